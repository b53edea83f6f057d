/* Text in the cells of a terminal, and columns that fit into it. */
#include "common/cells.h"
#include "support/test.h"

static void cuts_to(const char *text, int cells, const char *wanted) {
    char *cut = cells_cut(text, cells);

    assert_string_equal(cut, wanted);
    free(cut);
}

TEST(test_cells__cuts_by_cells_not_bytes) {
    cuts_to("refused", 7, "refused");
    cuts_to("refused", 4, "ref\xe2\x80\xa6");
    cuts_to("\xe5\xae\xa2\xe6\x88\xb7\xe5\xae\xa2", 4, "\xe5\xae\xa2\xe2\x80\xa6");
    cuts_to("e\xcc\x81tude", 3, "e\xcc\x81t\xe2\x80\xa6");
}

static void time_cuts_to(int cells, const char *wanted) {
    char text[] = "2025-11-21T10:44:05.123+01:00";

    cells_cut_time(text, cells);
    assert_string_equal(text, wanted);
}

TEST(test_cells__shortens_times) {
    char none[] = "paused until somebody asks";

    time_cuts_to(29, "2025-11-21T10:44:05.123+01:00");
    time_cuts_to(20, "2025-11-21 10:44:05");
    time_cuts_to(14, "11-21 10:44:05");
    time_cuts_to(11, "11-21 10:44");
    cells_cut_time(none, 11);
    assert_string_equal(none, "paused until somebody asks");
}

TEST(test_cells__takes_from_the_widest) {
    struct cells_column columns[] = {
        {.width = 36, .least = 36}, {.width = 20, .least = 12}, {.width = 50, .least = 12}};

    cells_fit(columns, 3, 80);
    assert_int_equal(columns[0].width, 36);
    assert_int_equal(columns[1].width + columns[2].width, 80 - 36 - 2 * CELLS_BETWEEN);
    assert_true(columns[1].width >= 12 && columns[2].width >= 12);
}

TEST(test_cells__leaves_out_what_can_be_spared) {
    struct cells_column columns[] = {{.width = 36, .least = 36},
                                     {.width = 8, .least = 8, .spare = 1},
                                     {.width = 8, .least = 8, .spare = 2}};

    cells_fit(columns, 3, 50);
    assert_true(!columns[0].left_out && !columns[1].left_out && columns[2].left_out);
}
