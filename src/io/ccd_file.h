// ccd_file.h - recorded collision queries with known answers, as CSV, plain or compressed by gzip.
#pragma once

#include "core/array.h"
#include "core/status.h"
#include "math/vec3.h"

enum { CR_CCD_FILE_NAME = 64 }; // bytes of a subset's name, its end included

typedef struct cr_ccd_file_query {
    cr_vec3 x0[4], x1[4]; // [m] points in the order of cr_pair_kind
    double toi;           // exact first time of contact; 1 for a miss or where none is recorded
    int32_t kind;         // cr_pair_kind
    int32_t subset;       // index into subset[]
    int32_t truth;        // 1 hit, 0 miss
} cr_ccd_file_query;

typedef struct cr_ccd_file_subset {
    char name[CR_CCD_FILE_NAME];
} cr_ccd_file_subset;

// Zero-initialised is empty.
typedef struct cr_ccd_file {
    CR_ARRAY(cr_ccd_file_query) query;
    CR_ARRAY(cr_ccd_file_subset) subset; // in the order of first appearance
} cr_ccd_file;

// Lines  kind,x0,y0,z0,...,x7,y7,z7,truth,toi,subset,query  with kind vf (v,f0,f1,f2 at time 0,
// then at time 1) or ee (a0,a1,b0,b1); empty lines and those that begin with # are skipped.
// CAROM_ERR_FILE, CAROM_ERR_FORMAT and CAROM_ERR_MEMORY leave *file empty and name file and line.
carom_status cr_ccd_file_read(const char* path, cr_ccd_file* file, carom_error* error);
void cr_ccd_file_release(cr_ccd_file* file);
