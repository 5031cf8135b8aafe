// record.h - what a step did, as far as the way back needs to know it and cannot cheaply work it
// out.
#pragma once

#include "contact/candidate.h"
#include "contact/events.h"
#include "core/array.h"
#include "math/quat.h"

// A rigid frame in one part of a step: where it was, what acted on it, where the zone let it go.
typedef struct cr_record_frame {
    int32_t frame;
    cr_vec3 t, v, om;
    cr_quat q;
    cr_vec3 force, torque;
    cr_vec3 w, u;
} cr_record_frame;

typedef struct cr_record_node {
    cr_vec3 x, v, force, d;
} cr_record_node;

// A contact that carried a load, or stood beside one that did, with the numbers it had.
typedef struct cr_record_row {
    cr_candidate candidate; // its compliance and room are the row's own
    double lam;             // kg m
    double say;             // 0..1, how much of a contact of its own it was
    double rub;
    int32_t points, straight, over; // see cr_newton_recalled
} cr_record_row;

// One part of an island's step.
typedef struct cr_record_part {
    double h, from, to;
    int32_t alone; // nonzero: nothing near and no cloth, so no zone
    int32_t frame_begin, frame_end;
    int32_t sheet_begin, sheet_end;
    int32_t node_begin;                   // nodes of its sheets, one after another
    int32_t row_begin, row_end, idle_end; // those without a load stand behind the others
    int32_t crowded;                      // rows whose compliance hangs on where rows are
    int32_t impact_begin, impact_end;     // bytes of cr_events_save, when there were impacts
    int32_t weakly_active;
    int32_t bounced; // nonzero: there was an impact with restitution
} cr_record_part;

// Parts in the order in which they were taken; those of one island follow each other. Keeps its
// memory.
typedef struct cr_record {
    int64_t step;
    double time; // s, at the start
    // nonzero: whoever goes back puts what moves by script where the state before had it, and hears
    // what that place felt; else the script says where it was, and hears it
    int32_t placed;
    CR_ARRAY(cr_record_part) part;
    CR_ARRAY(cr_record_frame) frame;
    CR_ARRAY(int32_t) sheet;
    CR_ARRAY(cr_record_node) node;
    CR_ARRAY(cr_record_row) row;
    cr_events_tape impact;
} cr_record;

void cr_record_clear(cr_record* record);
void cr_record_release(cr_record* record);
// Appends all of `from`.
carom_status cr_record_append(cr_record* record, const cr_record* from);
size_t cr_record_bytes(const cr_record* record); // in use
