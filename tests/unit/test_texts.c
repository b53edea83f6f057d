/* Texts that are kept together: they stay where they are, and their memory is used again. */
#include "base/texts.h"
#include "support/test.h"

enum { MANY = 5000, LONG = 100 * 1024 };

TEST(test_texts__each_stays_where_it_is_while_others_come) {
    const char *kept[MANY];
    char *text = malloc(LONG);
    struct tpi_texts texts = {0};
    assert_non_null(text);
    memset(text, 'x', LONG);
    for (size_t i = 0; i < MANY; i++) {
        kept[i] = tpi_texts_keep(&texts, text, i % 20);
        if (i % 1000 == 0) assert_int_equal(strlen(tpi_texts_keep(&texts, text, LONG)), LONG);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(strlen(kept[i]), i % 20);
    tpi_texts_free(&texts);
    tpi_texts_free(&texts);
    free(text);
}

TEST(test_texts__what_is_cleared_gives_its_memory_to_the_next) {
    struct tpi_texts texts = {0};
    tpi_texts_clear(&texts);
    const char *first = tpi_texts_keep(&texts, "one", 3);
    assert_string_equal(tpi_texts_keep(&texts, "two", 3), "two");
    tpi_texts_clear(&texts);
    assert_ptr_equal(tpi_texts_keep(&texts, "three", 5), first);
    assert_string_equal(first, "three");
    tpi_texts_free(&texts);
}

TEST(test_texts__just_so_many_bytes_can_be_had) {
    struct tpi_texts texts = {0};
    assert_true(tpi_texts_reserve(&texts, 8));
    const char *first = tpi_texts_keep(&texts, "one", 3);
    assert_ptr_equal(tpi_texts_keep(&texts, "two", 3), first + 4);
    assert_string_equal(tpi_texts_keep(&texts, "three", 5), "three");
    assert_string_equal(first, "one");
    assert_string_equal(tpi_texts_keep(&texts, "anything", 0), "");
    tpi_texts_free(&texts);
}
