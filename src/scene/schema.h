// schema.h - the format of scenes told to others: a JSON Schema for editors, a page for people.
#pragma once

#include "core/status.h"

// Each text is closed by a 0 and freed by cr_memory_free. Fails with CAROM_ERR_MEMORY only.
carom_status cr_schema_json(char** text);
carom_status cr_schema_page(char** text); // Markdown: the reference part of docs/scene.md
