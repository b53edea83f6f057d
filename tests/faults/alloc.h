/* Makes one allocation of the library fail. The program is linked with --wrap for each of the functions in
 * alloc.c, which catches the calls of the library's own code and of nothing else: drivers and shared
 * libraries keep theirs. A thread or an open file that the system does not give counts as an allocation. Any
 * thread's calls count. */
#ifndef TESTS_FAULTS_ALLOC_H
#define TESTS_FAULTS_ALLOC_H

#include <stdbool.h>

/* From now on the number-th call, and none after it, fails; 1 is the first, UINT_MAX none. */
void alloc_arm(unsigned number);
/* No call fails any more. Gives how many came, the one that failed included. */
unsigned alloc_disarm(void);
/* Has one failed since alloc_arm? */
bool alloc_has_failed(void);

#endif
