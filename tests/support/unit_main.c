/* The main of programs that need no more than their tests. See test.h. */
#include "support/test.h"

int main(void) {
    return test_run(&(struct test_group){0});
}
