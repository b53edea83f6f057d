/* Groups: docs/groups.md. Producers put tasks into one group, another puts one in that waits for its end, somebody closes it, workers settle,
 * a person retries or skips what failed, and sessions that ask now and then end it. A transaction is its lock on the group's row and one step
 * that commits all it has written or, when its client dies, none of it. README.md says what the names mean in the library. */
#ifndef TASKS
#define TASKS 3
#endif
#ifndef ASKERS
#define ASKERS 2
#endif
#ifndef TROUBLES
#define TROUBLES 2 /* clients that die in a transaction */
#endif
#ifndef FAILURES
#define FAILURES 2
#endif

mtype = { NONE, PENDING, FAILED, SETTLED, OPEN, CLOSED, OVER, WAITS, DUE };

mtype at[TASKS] = NONE;  /* in which pool; of the group since the same commit */
mtype group = OPEN;
mtype after = NONE;      /* the task that waits for the end */
byte sharers = 0;        /* who holds the group's row with others ... */
bool alone = false;      /* ... and alone */
byte troubles = TROUBLES;
byte failures = FAILURES;
byte producing = TASKS;

#define ENDED(i)  (at[i] == NONE || at[i] == SETTLED)
#define ALL_ENDED (ENDED(0) && ENDED(1) && ENDED(TASKS - 1))

inline share() { atomic { !alone -> sharers++ } }
inline lock_alone() { atomic { !alone && sharers == 0 -> alone = true } }

/* tp_enqueue with group. */
proctype producer(byte me) {
  bool open;
#ifndef GROUP_NO_SHARE
  share();
#endif
  open = group == OPEN;
  atomic {
    if
    :: open -> assert(group != OVER); at[me] = PENDING
    :: !open
    :: troubles > 0 -> troubles--
    fi;
#ifndef GROUP_NO_SHARE
    sharers--;
#endif
    producing--
  }
}

/* tp_enqueue with after; asked again when it got no answer. */
proctype follower() {
  bool over;
  do
  :: after == NONE ->
#ifndef GROUP_AFTER_NO_SHARE
    share();
#endif
    over = group == OVER;
    atomic {
      if
      :: over -> after = DUE
      :: !over -> after = WAITS
      :: troubles > 0 -> troubles--
      fi;
#ifndef GROUP_AFTER_NO_SHARE
      sharers--
#endif
    }
  :: else -> break
  od
}

/* tp_group_close: at any moment, whoever is still putting tasks in. */
proctype closer() {
  do
  :: group == OPEN ->
    lock_alone();
    atomic {
      if
      :: group == OPEN -> group = CLOSED
      :: group != OPEN
      :: troubles > 0 -> troubles--
      fi;
      alone = false
    }
  :: else -> break
  od
}

/* Workers, and a person who decides about what failed. They know nothing of the group. */
inline settle(i) {
  atomic {
    if
    :: at[i] == PENDING -> at[i] = SETTLED
    :: at[i] == PENDING && failures > 0 -> failures--; at[i] = FAILED
    :: at[i] == FAILED -> at[i] = PENDING /* a retry */
    :: at[i] == FAILED -> at[i] = SETTLED /* a skip */
    fi
  }
}

proctype settler() {
  do
  :: at[0] == PENDING || at[0] == FAILED -> settle(0)
  :: at[1] == PENDING || at[1] == FAILED -> settle(1)
  :: at[TASKS - 1] == PENDING || at[TASKS - 1] == FAILED -> settle(TASKS - 1)
  :: producing == 0 && ALL_ENDED -> break
  od
}

/* tp_groups_end, by a worker or its maintenance. */
proctype asker() {
  bool ended;
  do
  :: group == OVER -> break
#ifdef GROUP_OPEN_ENDS
  :: group != OVER && ALL_ENDED ->
#else
  :: group == CLOSED && ALL_ENDED -> /* the question, without a lock */
#endif
    lock_alone();
    ended = group != OVER && ALL_ENDED;
    if
    :: atomic { troubles > 0 -> troubles--; alone = false }
#ifdef GROUP_NO_MAINTENANCE
      ; break
#endif
    :: atomic {
        if
        :: ended ->
          assert(group == CLOSED && ALL_ENDED);
          group = OVER;
          if
          :: after == WAITS -> after = DUE
          :: else
          fi
        :: else
        fi;
        alone = false
      }
    fi
  od
}

/* Nothing is stuck: it ends only when the group has, and what follows is due. */
proctype judge() {
  group == OVER && producing == 0 && after == DUE;
  assert(ALL_ENDED)
}

/* What is over stays so. */
proctype watch() {
  do
  :: atomic { group == OVER && !ALL_ENDED -> assert(false) }
  :: group == OVER && producing == 0 -> break
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. TASKS - 1) { run producer(i) }
    run follower();
    run closer();
    run settler();
    for (i : 1 .. ASKERS) { run asker() }
    run judge();
    run watch()
  }
}
