/* Gates: docs/gates.md. Producers put tasks behind one gate, workers claim and settle them, maintenance mends. A transaction is its
 * locks, in the order task, then gate, and one step that commits all it has written or, when its client dies, none of it. README.md says
 * what the names mean in the library, and what is left out. */
#ifndef TASKS
#define TASKS 3
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef WIDTH
#define WIDTH 1
#endif
#ifndef TROUBLES
#define TROUBLES 2 /* crashes, lost answers and lapses, together */
#endif
#ifndef OLD
#define OLD 0 /* settles by a library that knows no gates */
#endif
#ifndef TOKENS
#define TOKENS 0 /* tasks in any period; 0: as many as come */
#endif
#define NOBODY 255

mtype = { NONE, WAITS, DUE, HANDLING, ENDED };

mtype at[TASKS] = NONE;   /* a row of tp_pending, or settled */
byte owner[TASKS];        /* its claim token */
byte row_lock[TASKS];     /* who has locked it */
bool behind[TASKS];       /* a row of tp_gate_task ... */
bool passed[TASKS];
byte place[TASKS];
byte let_through = 0;     /* the gate's row ... */
byte next_place = 1;
byte gate_lock = NOBODY;
byte committed[TASKS];    /* in which order the enqueues committed; to judge by */
byte commits = 0;
byte tokens = 1;
byte troubles = TROUBLES;
byte old_settles = OLD;

bool held[TASKS];         /* in the gate's row: the token of a task that ended */
bool lately[TASKS];       /* it ended within the last period; to judge by, and what the clock says */

#define HELD   (held[0] + held[1] + held[TASKS - 1])
#define LATELY (lately[0] + lately[1] + lately[TASKS - 1])
#define ROOM   (let_through < WIDTH && (TOKENS == 0 || let_through + HELD < TOKENS))
#define ALL_ENDED (at[0] == ENDED && at[1] == ENDED && at[TASKS - 1] == ENDED)

inline count_running(n, i) {
  n = 0;
  i = 0;
  do
  :: i < TASKS -> n = n + (at[i] == DUE || at[i] == HANDLING); i++
  :: else -> break
  od
}

/* Tokens come back whose period is over. Then, as long as there is room, the one that waits in the first place. */
inline fill(i, first) {
  i = 0;
  do
  :: i < TASKS ->
#ifdef GATE_EARLY_TOKEN
    held[i] = false;
#else
    held[i] = held[i] && lately[i];
#endif
    i++
  :: else -> break
  od;
  do
  :: ROOM ->
    first = NOBODY;
    i = 0;
    do
    :: i < TASKS ->
      if
      :: behind[i] && !passed[i] && (first == NOBODY || place[i] < place[first]) -> first = i
      :: else
      fi;
      i++
    :: else -> break
    od;
    if
    :: first == NOBODY -> break
    :: else ->
      at[first] = DUE;
      passed[first] = true;
      let_through++;
      i = 0;
      do
      :: i < TASKS ->
        /* Whoever was committed before it has been let through, and with width 1 has ended. */
        assert(committed[i] == 0 || committed[i] >= committed[first] || at[i] == ENDED || (WIDTH > 1 && passed[i]));
        i++
      :: else -> break
      od
    fi
  :: else -> break
  od;
  count_running(first, i);
  assert(first <= WIDTH);
  assert(TOKENS == 0 || first + LATELY <= TOKENS)
}

inline lock_gate() {
#ifdef GATE_NO_LOCK
  skip
#else
  atomic { gate_lock == NOBODY -> gate_lock = _pid }
#endif
}

inline unlock_gate() {
  gate_lock = NOBODY
}

/* Puts in its tasks, one after the other; asked again after a crash or a lost answer it finds its task. */
active [2] proctype producer() {
  byte t = _pid, mine = 0, i, first;
  bool seen = true;
  do
  :: t < TASKS && at[t] != NONE -> t = t + 2
  :: t < TASKS && at[t] == NONE ->
#ifdef GATE_EARLY_PLACE
    mine = next_place; next_place++;
#endif
    lock_gate();
#ifdef GATE_NO_LOCK
    seen = (let_through < WIDTH); /* looked without the lock */
#endif
    if
    :: atomic { troubles > 0 -> troubles--; unlock_gate() } /* the client dies: nothing is stored */
    :: atomic {
         d_step {
#ifndef GATE_EARLY_PLACE
           mine = next_place; next_place++;
#endif
           commits++;
           committed[t] = commits;
           behind[t] = true;
           place[t] = mine;
           at[t] = WAITS
         }
#ifdef GATE_NO_LOCK
         if
         :: seen -> at[t] = DUE; passed[t] = true; let_through++; count_running(first, i); assert(first <= WIDTH)
         :: else
         fi;
#endif
         d_step { fill(i, first); unlock_gate() }
       }
    fi
  :: t >= TASKS -> break
  od
}

/* Under the locks of the task and the gate: the end of the task, and who is next. */
inline leave(task, i, first) {
  if
  :: passed[task] -> let_through--; held[task] = (TOKENS > 0)
  :: else
  fi;
  lately[task] = (TOKENS > 0);
  behind[task] = false;
  passed[task] = false;
#ifndef GATE_NO_FILL
  fill(i, first);
#endif
  skip
}

active [WORKERS] proctype worker() {
  byte t, token = 0, i, first;
end_idle:
  do
  :: ALL_ENDED -> break
  :: atomic { at[0] == DUE && row_lock[0] == 0 -> t = 0 }; goto claim
  :: atomic { at[1] == DUE && row_lock[1] == 0 -> t = 1 }; goto claim
  :: atomic { at[TASKS - 1] == DUE && row_lock[TASKS - 1] == 0 -> t = TASKS - 1 }; goto claim
  od;
  goto done;
claim:
  atomic {
    if
    :: at[t] == DUE && row_lock[t] == 0 -> at[t] = HANDLING; token = tokens; tokens++; owner[t] = token
    :: else -> goto end_idle
    fi
  }
settle:
  if
  :: atomic { troubles > 0 && at[t] == HANDLING && owner[t] == token && row_lock[t] == 0 -> troubles--; at[t] = DUE; owner[t] = 0 };
     goto settle /* its lease lapses; the worker does not know */
  :: atomic { old_settles > 0 && at[t] == HANDLING && owner[t] == token && row_lock[t] == 0 -> old_settles--; at[t] = ENDED; lately[t] = (TOKENS > 0) }; goto end_idle
  :: atomic { row_lock[t] == 0 && at[t] == HANDLING && owner[t] == token -> row_lock[t] = 1 }
  :: atomic { row_lock[t] == 0 && !(at[t] == HANDLING && owner[t] == token) ->
#ifdef GATE_LEAVE_TWICE
       if
       :: at[t] == ENDED && owner[t] == token && gate_lock == NOBODY && let_through > 0 -> d_step { let_through--; fill(i, first) }
       :: else
       fi;
#endif
       goto end_idle } /* done before, or lost */
  fi;
  lock_gate();
  if
  :: atomic { troubles > 0 -> troubles--; unlock_gate(); row_lock[t] = 0 }; goto settle /* rolled back, asked again */
  :: atomic { d_step { at[t] = ENDED; leave(t, i, first); unlock_gate(); row_lock[t] = 0 } };
     if
     :: atomic { troubles > 0 -> troubles-- }; goto settle /* the answer is lost */
     :: goto end_idle
     fi
  fi;
done:
  skip
}

/* What others left: looks under the lock of the gate. */
active proctype maintenance() {
  byte i, first;
#ifndef GATE_NO_MAINTENANCE
end_nothing:
  do
  :: ALL_ENDED -> break
  :: atomic { (behind[0] && at[0] == ENDED) || (behind[1] && at[1] == ENDED) || (behind[TASKS - 1] && at[TASKS - 1] == ENDED) -> skip };
     lock_gate();
     d_step {
       i = 0;
       let_through = 0;
       do
       :: i < TASKS ->
         if
         :: behind[i] && at[i] == ENDED -> behind[i] = false; passed[i] = false; held[i] = (TOKENS > 0)
         :: else
         fi;
         let_through = let_through + passed[i];
         i++
       :: else -> break
       od;
       fill(i, first);
       unlock_gate()
     }
#ifndef GATE_NO_GIVER
  :: atomic { TOKENS > 0 && let_through < WIDTH && ((held[0] && !lately[0]) || (held[1] && !lately[1]) || (held[TASKS - 1] && !lately[TASKS - 1])) -> skip };
     lock_gate();
     d_step { fill(i, first); unlock_gate() }
#endif
  od
#endif
  skip
}

/* A period is over, whenever it is. */
active proctype clock() {
end_clock:
  do
  :: lately[0] -> lately[0] = false
  :: lately[1] -> lately[1] = false
  :: lately[TASKS - 1] -> lately[TASKS - 1] = false
  od
}

/* Ends only when all have ended: where nobody lets the next through, this one waits for ever. */
active proctype judge() {
  ALL_ENDED
}
