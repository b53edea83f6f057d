/* What taskpool top draws: a page of rows below a summary. Reads no keys and no database; read next:
 * top_screen.c. */
#ifndef TOP_PAGES_H
#define TOP_PAGES_H

#include "top_reader.h"

enum page { PAGE_HANDLERS, PAGE_TASKS, PAGE_GROUPS, PAGE_WORKERS, PAGE_HELP };

/* X(enumerator, "title") */
#define ORDER_LIST(X)                                                                                        \
    X(ORDER_NAME, "name")                                                                                    \
    X(ORDER_DUE, "due")                                                                                      \
    X(ORDER_AGE, "oldest")                                                                                   \
    X(ORDER_FAILED, "failed")                                                                                \
    X(ORDER_IN, "in")                                                                                        \
    X(ORDER_OUT, "out")
enum order {
#define ORDER_ENUM(id, name) id,
    ORDER_LIST(ORDER_ENUM)
#undef ORDER_ENUM
        ORDERS
};
/* What is looked at. */
struct screen {
    struct reader_view view;
    enum page page;
    enum order order;
    bool paused;
    size_t chosen, top; /* rows of the page */
    struct reader_wish wish;
};

/* Draws and shows all of it; chosen and top become such that the chosen row is there, and is seen. */
void pages_draw(struct screen *screen);

#endif
