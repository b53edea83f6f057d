/* Deadlines: docs/deadlines.md; a cancel is one that passes when it is asked for. One task has a row of tp_cancel; workers claim, run and settle
 * it, their leases lapse, the deadline passes, maintenance skips what waits, a person retries the task or gives it another deadline. A
 * transaction is one step. README.md says what the names mean in the library. */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef LAPSES
#define LAPSES 2
#endif
#ifndef ACTS
#define ACTS 2 /* of the person */
#endif
#ifndef FAILURES
#define FAILURES 2 /* with the last of them it goes to the failed pool */
#endif

mtype = { PENDING, HANDLING, DONE, SKIPPED, FAILED };

mtype at = PENDING;
byte owner = 0;
byte failures = 0;
bool lapsed = false;
bool row = true;   /* of tp_cancel */
bool past = false; /* its time has come */
byte lapses = LAPSES;
byte acts = ACTS;
byte releases = 1;
byte effects = 0;

#define UNWANTED  (row && past)
#define CLAIMABLE (at == PENDING || (at == HANDLING && lapsed))
#define ENDED     (at == DONE || at == SKIPPED || at == FAILED)
#define OVER      (ENDED && acts == 0 && past)

/* Nothing is skipped but for a deadline that has passed, and nothing that was done. */
inline skip_it() { assert(UNWANTED && effects == 0); at = SKIPPED; row = false }

inline fail_it() {
  if
  :: failures < FAILURES -> at = PENDING
  :: else -> at = FAILED
  fi
}

/* A claim by a lease, what it looks up behind its commit (tpi_lapse_settle), the handler, and the settle, which names the token. */
proctype worker(byte me) {
  bool looks, was_unwanted, unwanted, again;
  do
  :: atomic {
      CLAIMABLE ->
      if
      :: at == HANDLING -> failures++
      :: else
      fi;
      was_unwanted = UNWANTED;
      again = failures > 0;
      if
      :: failures >= FAILURES && UNWANTED -> lapsed = false; owner = 0; skip_it()
      :: failures >= FAILURES && !UNWANTED -> lapsed = false; owner = 0; at = FAILED
      :: else -> at = HANDLING; owner = me; lapsed = false
      fi
    };
    if
    :: looks = true
#ifndef DEADLINE_BELIEF
    :: !again -> looks = false /* by what the connection knew a second ago nothing is unwanted */
#else
    :: looks = false
#endif
    fi;
    unwanted = looks && UNWANTED;
    if
    :: unwanted ->
      atomic {
        if
        :: at == HANDLING && owner == me -> skip_it()
        :: else
        fi
      }
    :: !unwanted && owner == me ->
      /* A task that failed before is not begun when its deadline had passed by the claim. */
      assert(!(again && was_unwanted) || at != HANDLING || owner != me);
      if
      :: atomic { /* done, with its effect */
          assert(!(at == SKIPPED && owner == me));
          if
          :: at == HANDLING && owner == me -> at = DONE; effects++
          :: else
          fi
        }
      :: atomic { /* failed; unwanted: its worker has been told */
          if
          :: at == HANDLING && owner == me && UNWANTED -> skip_it()
          :: at == HANDLING && owner == me -> failures++; fail_it()
          :: else
          fi
        }
      :: atomic { /* put back */
          releases > 0 ->
          releases--;
          if
          :: at == HANDLING && owner == me -> at = PENDING
          :: else
          fi
        }
      :: atomic { lapses > 0 -> lapses--; /* it died */
          if
          :: at == HANDLING && owner == me -> lapsed = true
          :: else
          fi
        }
      fi
    :: else
    fi
  :: OVER -> break
  od
}

/* A lease that lapses while its worker lives. */
proctype lapse() {
  do
  :: atomic { lapses > 0 && at == HANDLING && !lapsed -> lapses--; lapsed = true }
  :: OVER -> break
  od
}

proctype clock() {
  do
  :: !past -> past = true
  :: OVER -> break
  od
}

/* A retry takes back a deadline that has passed; an edit gives another one. Neither takes a task in hand. */
proctype person() {
  do
  :: acts > 0 ->
    atomic {
      acts--;
      if
      :: at == FAILED || (at == PENDING && failures > 0) ->
        failures = 0;
        at = PENDING;
        row = row && !past
      :: at == PENDING -> row = true; past = false
      :: true /* nothing */
      fi
    }
  :: else -> break
  od
}

/* tpi_cancel_sweep: a look without a lock, then each task under its lock. */
proctype maintenance() {
  do
  :: UNWANTED && at == PENDING ->
    atomic {
      if
#ifdef DEADLINE_NO_RECHECK
      :: at == PENDING -> skip_it()
#else
      :: at == PENDING && UNWANTED -> skip_it()
#endif
#ifdef DEADLINE_NO_STATE
      :: at == HANDLING && UNWANTED -> skip_it()
#endif
      :: else
      fi
    }
  :: atomic { UNWANTED && ENDED -> row = false }
  :: OVER && !row -> break
  od
}

/* Nothing is stuck, and nothing is left. */
proctype judge() {
  OVER && !row;
  assert(effects == (at == DONE -> 1 : 0))
}

init {
  byte i;
  atomic {
    for (i : 1 .. WORKERS) { run worker(i) }
    run lapse();
    run clock();
    run person();
    run maintenance();
    run judge()
  }
}
