#include "check.h"
#include "core/memory.h"
#include "scene/json.h"
#include <string.h>

static cr_json json;
static carom_error error;

static carom_status read(const char* text)
{
    error = (carom_error){0};
    return cr_json_parse(&json, text, strlen(text), "f.json", &error);
}

static void check_refused(const char* text, const char* message)
{
    CHECK(read(text) == CAROM_ERR_FORMAT);
    if (!strstr(error.message, message)) {
        CHECK(!"the message holds what it should");
        printf("  wanted: %s\n  got:    %s\n", message, error.message);
    }
    CHECK(json.value.count == 0);
}

static void test_values_and_places(void)
{
    char place[CR_JSON_PLACE];
    CHECK(read("{ // a remark\n"
               "  \"a\": [1, -2.5e-3, true, null], /* two\n lines */\n"
               "  \"b\\u00e9\": {\"c\": \"x\\n\\ud83d\\ude00\"}\n}") == CAROM_OK);
    const int32_t a = cr_json_member(&json, 0, "a");
    CHECK(a > 0 && cr_json_at(&json, a)->count == 4);
    CHECK_NEAR(cr_json_at(&json, cr_json_child(&json, a, 1))->number, -2.5e-3, 0);
    CHECK(cr_json_at(&json, cr_json_child(&json, a, 2))->kind == CR_JSON_BOOL);
    CHECK(cr_json_child(&json, a, 4) == -1 && cr_json_child(&json, a, -1) == -1);
    const int32_t c = cr_json_member(&json, cr_json_member(&json, 0, "b\xc3\xa9"), "c");
    CHECK(c > 0 && strcmp(cr_json_text(&json, c), "x\n\xf0\x9f\x98\x80") == 0);
    cr_json_place(&json, c, place);
    CHECK(strcmp(place, "f.json:4:20") == 0);
    cr_json_key_place(&json, cr_json_member(&json, 0, "a"), place);
    CHECK(strcmp(place, "f.json:2:3") == 0);
}

static void test_comment_marks_inside_strings_are_text(void)
{
    CHECK(read("{\"url\": \"http://x/*y*/\"}") == CAROM_OK);
    CHECK(strcmp(cr_json_text(&json, cr_json_member(&json, 0, "url")), "http://x/*y*/") == 0);
}

static void test_what_is_no_json_is_refused_with_its_place(void)
{
    check_refused("", "f.json:1:1: expected a value");
    check_refused("{\"a\": 1,}", "f.json:1:9: a comma is followed by one more item");
    check_refused("{\"a\" 1}", "f.json:1:6: expected ':'");
    check_refused("{a: 1}", "f.json:1:2: expected a name in \"quotes\"; found 'a: 1}'");
    check_refused("[1 2]", "f.json:1:4: expected ',' or ']'");
    check_refused("{\"a\": [1, 2", "f.json:1:7: this [ is never closed");
    check_refused("{\"a\": \"x\n\"}", "f.json:1:9: a string ends in \" on the line");
    check_refused("{\"a\": \"x", "f.json:1:7: this string is never closed");
    check_refused("{\"a\": \"\\q\"}", "a backslash is followed by");
    check_refused("{\"a\": \"\\ud800\"}", "\\u takes four");
    check_refused("{\"a\": \"\\u0000\"}", "\\u takes four");
    check_refused("{\"a\": NaN}", "f.json:1:7: a number has to be finite; found 'NaN}'");
    check_refused("{\"a\": -Infinity}", "a number has to be finite");
    check_refused("{\"a\": 1e999}", "too large; it has to be finite");
    check_refused("{\"a\": .5}", "expected a value");
    check_refused("{\"a\": 1.}", "digits before and behind its point");
    check_refused("{\"a\": +1}", "expected a value");
    check_refused("{\"a\": 0x10}", "expected ',' or '}'");
    check_refused("{\"a\": 1} x", "the text goes on behind its end; found 'x'");
    check_refused("{\"a\": 1, \"b\": 2,\n \"a\": 3}",
                  "f.json:2:2: this name stands twice in one object");
    check_refused("{\"a\": 1 /* }", "comment is never closed");
    check_refused("{\"\xff\": 1}", "f.json:1:3: byte 0xff is not UTF-8");
    check_refused("{\"\xc0\xaf\": 1}", "byte 0xc0 is not UTF-8");     // overlong
    check_refused("{\"\xed\xa0\x80\": 1}", "byte 0xed is not UTF-8"); // half a character
    check_refused("{\"\xc3", "is not UTF-8");
}

static void test_nesting_is_bounded(void)
{
    char deep[4000] = "";
    for (int i = 0; i < 1000; i++) {
        strcat(deep, "[");
    }
    check_refused(deep, "f.json:1:65: brackets are nested more than 64 deep");
    deep[CR_JSON_DEEPEST] = 0;
    for (int i = 0; i < CR_JSON_DEEPEST; i++) {
        strcat(deep, "]");
    }
    CHECK(read(deep) == CAROM_OK);
}

// Random trees written and read again are the same text, and every number the same bits.
static int32_t grow(cr_json* to, int32_t parent, const char* key, uint64_t* seed, int depth)
{
    const int kind = (int)(check_random_bits(seed) % (depth > 4 ? 4 : 6));
    if (kind == 4 || kind == 5) {
        const int32_t v = cr_json_add(to, parent, key, kind == 4 ? CR_JSON_ARRAY : CR_JSON_OBJECT);
        const int n = (int)(check_random_bits(seed) % 6);
        for (int i = 0; i < n; i++) {
            char name[20];
            snprintf(name, sizeof name, "k%d\"\\\t%d", i, depth);
            grow(to, v, kind == 4 ? NULL : name, seed, depth + 1);
        }
        return v;
    }
    if (kind == 0) {
        double number;
        do {
            const uint64_t bits = check_random_bits(seed);
            memcpy(&number, &bits, sizeof number);
        } while (!isfinite(number));
        return cr_json_add_number(to, parent, key, number);
    }
    return kind == 1   ? cr_json_add_bool(to, parent, key, (int)(check_random_bits(seed) & 1))
           : kind == 2 ? cr_json_add_string(to, parent, key, "text \xc3\xa9 \"quoted\" \n")
                       : cr_json_add(to, parent, key, CR_JSON_NULL);
}

static void test_what_is_written_reads_back(void)
{
    uint64_t seed = 7;
    for (int round = 0; round < 300; round++) {
        cr_json made = {0};
        char *text = NULL, *again = NULL;
        size_t length = 0;
        grow(&made, -1, NULL, &seed, 0);
        CHECK(cr_json_write(&made, 0, &text, &length) == CAROM_OK);
        CHECK(read(text) == CAROM_OK);
        CHECK(json.value.count == made.value.count);
        CHECK(cr_json_write(&json, 0, &again, &length) == CAROM_OK);
        CHECK(text && again && strcmp(text, again) == 0);
        for (int32_t i = 0; i < made.value.count && i < json.value.count; i++) {
            CHECK(made.value.items[i].kind == json.value.items[i].kind);
            CHECK(made.value.items[i].number == json.value.items[i].number);
        }
        cr_memory_free(text);
        cr_memory_free(again);
        cr_json_release(&made);
    }
}

// Good text with bytes changed, dropped and doubled: refused or read, never worse.
static void test_damaged_text_does_no_harm(void)
{
    static const char good[] =
        "{\"carom\": 1, \"bodies\": [{\"name\": \"a\\u0041\", \"p\": [1e3, -0.5]}], // end\n"
        "\"x\": {\"y\": null, \"z\": [true, false]}}";
    uint64_t seed = 11;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        const int n = 1 + (int)(check_random_bits(&seed) % 4);
        for (int i = 0; i < n; i++) {
            text[check_random_bits(&seed) % (sizeof good - 1)] = (char)check_random_bits(&seed);
        }
        const size_t length = check_random_bits(&seed) % sizeof good;
        const carom_status status = cr_json_parse(&json, text, length, "f.json", &error);
        CHECK(status == CAROM_OK || status == CAROM_ERR_FORMAT);
    }
}

static void test_refused_memory_leaves_nothing_behind(void)
{
    for (int n = 1; n < 40; n++) {
        cr_memory_fail_after(n);
        const carom_status status = read("{\"a\": [1, 2, {\"b\": \"text\"}], \"c\": {}}");
        cr_memory_fail_after(0);
        CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
        CHECK(status == CAROM_OK || json.value.count == 0);
    }
    CHECK(read("[1]") == CAROM_OK);
}

int main(void)
{
    RUN(test_values_and_places);
    RUN(test_comment_marks_inside_strings_are_text);
    RUN(test_what_is_no_json_is_refused_with_its_place);
    RUN(test_nesting_is_bounded);
    RUN(test_what_is_written_reads_back);
    RUN(test_damaged_text_does_no_harm);
    RUN(test_refused_memory_leaves_nothing_behind);
    cr_json_release(&json);
    return check_failures != 0;
}
