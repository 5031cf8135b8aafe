// browser.h - a page in a headless browser, asked over a pipe: no port, no network, no files of the
// user's own browser touched.
#pragma once

#include <jansson.h>

typedef struct cli_browser cli_browser;

// Starts Chromium (or $CAROM_BROWSER) and opens a page of carom's in it, with its own settings in
// the folder given. NULL after a message on stderr.
cli_browser* cli_browser_open(const char* command, const char* page, const char* folder);
void cli_browser_close(cli_browser* browser); // NULL is fine

// What an expression comes to, promises waited for, as text to be freed; NULL after a message.
char* cli_browser_ask(cli_browser* browser, const char* expression);

// The bytes that letters (base64) stand for, to be freed; NULL when memory is short.
unsigned char* cli_browser_bytes(const char* letters, size_t* size);
