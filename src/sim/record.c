#include "sim/record.h"
#include <string.h>

void cr_record_clear(cr_record* record)
{
    record->part.count = record->frame.count = record->sheet.count = 0;
    record->node.count = record->row.count = record->impact.count = 0;
}

void cr_record_release(cr_record* record)
{
    cr_array_release(&record->part);
    cr_array_release(&record->frame);
    cr_array_release(&record->sheet);
    cr_array_release(&record->node);
    cr_array_release(&record->row);
    cr_array_release(&record->impact);
}

#define APPEND(to, from)                                                                           \
    (cr_array_reserve(&(to), (to).count + (from).count)                                            \
         ? ((from).count > 0 ? (void)memcpy((to).items + (to).count, (from).items,                 \
                                            (size_t)(from).count * sizeof *(to).items)             \
                             : (void)0,                                                            \
            (to).count += (from).count, 1)                                                         \
         : 0)

carom_status cr_record_append(cr_record* record, const cr_record* from)
{
    const int32_t frames = record->frame.count, sheets = record->sheet.count;
    const int32_t nodes = record->node.count, rows = record->row.count;
    const int32_t parts = record->part.count, bytes = record->impact.count;
    if (!APPEND(record->part, from->part) || !APPEND(record->frame, from->frame) ||
        !APPEND(record->sheet, from->sheet) || !APPEND(record->node, from->node) ||
        !APPEND(record->row, from->row) || !APPEND(record->impact, from->impact)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = parts; i < record->part.count; i++) {
        cr_record_part* part = &record->part.items[i];
        part->frame_begin += frames;
        part->frame_end += frames;
        part->sheet_begin += sheets;
        part->sheet_end += sheets;
        part->node_begin += nodes;
        part->row_begin += rows;
        part->row_end += rows;
        part->idle_end += rows;
        part->impact_begin += bytes;
        part->impact_end += bytes;
    }
    return CAROM_OK;
}

size_t cr_record_bytes(const cr_record* record)
{
    return sizeof *record + (size_t)record->part.count * sizeof(cr_record_part) +
           (size_t)record->frame.count * sizeof(cr_record_frame) +
           (size_t)record->sheet.count * sizeof(int32_t) +
           (size_t)record->node.count * sizeof(cr_record_node) +
           (size_t)record->row.count * sizeof(cr_record_row) +
           (size_t)record->impact.count * sizeof(unsigned char);
}
