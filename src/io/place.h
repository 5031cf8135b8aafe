// place.h - where a file goes that is written beside its place and then takes it.
#pragma once

// Where the links at path lead, for cr_memory_free; path itself where there are none. NULL: no
// memory.
char* cr_place_behind(const char* path);

// Nonzero: there is something else than a regular file (a pipe, a device), or a link to nothing:
// it has to be written to directly, for another file under its name would be in its stead.
int cr_place_is_taken(const char* path);
