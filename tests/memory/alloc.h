/* Makes one allocation of the library fail. The program is linked with --wrap for each of the functions
 * below, which catches the calls of the library's own code and of nothing else: drivers and shared libraries
 * keep theirs. A thread or an open file that the system does not give counts as an allocation. Any thread's
 * calls count. */
#ifndef TESTS_MEMORY_ALLOC_H
#define TESTS_MEMORY_ALLOC_H

#include <stdbool.h>

/* From now on the number-th call, and none after it, fails; 1 is the first. */
void alloc_arm(unsigned number);
/* No call fails any more. True: one has. */
bool alloc_disarm(void);

#endif
