# SPDX-License-Identifier: BSD-3-Clause
"""Loops of upc_forall as both translators write them, each beside a copy that weftcc leaves as it is: a program in C that
compares the iterations of the two, their order, the places in their bodies and the bytes there, and what the variable is behind
them, for every thread of 1 to 8. The library's part of a walk is compiled into it, so no job is needed: of each thread some
memory is near, and calls find the rest, with the bytes that the place has.
"""

import random
import re

KINDS = ("int", "long", "unsigned", "unsigned long", "short", "signed char", "_INT64")
INDEXES = ("i", "(i)", "i + 1", "i + next", "i - 3", "2 * i", "3 * i + k", "n - i", "k - 2 * i", "i * k", "i * 5 + k", "(_INT64)((_UINT64)(i) * 6ULL)",
           "(i * 16UL)", "i * (int) upcr_threads()", "(long)(k) * i", "(unsigned)(i * 7)", "-i", "k")
NUMBERS = INDEXES[:-1] + ("i * (int) upcr_threads() / over", "i / 4", "(i + k) / over", "i * k / 3", "2 * i / (over + 1)")
# The last is what is no walk: the variable twice, a call, or a quotient in a sum.
OTHERS = ("i * i", "twice(i)", "i / 2 + 1", "table[i & 3]", "(int)(i * real)")
BLOCKS = (1, 1, 2, 3, 4, 5, 8, 12, 0)
BEGINS = ("0", "lo", "range", "3", "-2", "lo - 1", "(int)(lo)")
ENDS = ("n", "lo + n", "found", "12", "2 * n - 1", "(((int) upcr_threads () ) * 4)", "lo", "far", "real", "big")
HEAD = """#include "upcr.h"
#include "upcr_proxy.h"
#define UPCR_SHARED_SIZE_ 16
#define UPCR_PSHARED_SIZE_ 16
int lo, n, k, l, over, next, range, found, table[4] = {2, 0, 1, 7};
long far;
unsigned big;
double real;
upcr_shared_ptr_t a, b, c, d, e;
int twice(int x) {
  return 2 * x;
}
static void change_places(void) {
  const upcr_shared_ptr_t other = c;
  c = e, e = other;
}
#define MORE(...) sum = sum * 31 + (unsigned long)(__VA_ARGS__)
#define PLACE(...) { const upcr_shared_ptr_t p_ = __VA_ARGS__; MORE(p_.addr); MORE(p_.thread); MORE(p_.phase); }
/* Bytes by an access with a name in capitals, which walks make faster; a write is read again by another one, and taken back. */
#define READ(...) { long x_; UPCR_GET_SHARED(&x_, __VA_ARGS__, 0, 8); MORE(x_); }
#define AGAIN(...) MORE(upcr_get_shared_val(__VA_ARGS__, 0, 8))
#define BACK(before, ...) upcr_put_shared_val(__VA_ARGS__, 0, before, 8)
"""
MAIN = """
#undef UPCR_UNIT
upcr_job_t upcr_job;
int32_t upcrt_forall_control;
enum { room = 3000 };
static unsigned char near_memory[8][room + 16];
static unsigned char* heaps[8];
static uint64_t reach[8], begin = (1 << 20) - 700;
static unsigned char byte_of(uint64_t addr, unsigned thread) { return (unsigned char)((addr * 0x9e3779b97f4a7c15ull + thread * 77) >> 56); }
static struct { uint64_t addr; uint32_t thread; unsigned char bytes[8]; size_t count; } put_last;
void weft_poll(void) {}
void upc_memget(void* to, upc_shared_ptr_t from, size_t n) {
  for (size_t k = 0; k < n; k++) {
    const uint64_t behind = from.addr + k - begin;
    ((unsigned char*)to)[k] = from.thread == put_last.thread && from.addr + k - put_last.addr < put_last.count ? put_last.bytes[from.addr + k - put_last.addr] :
      behind < room ? near_memory[from.thread][behind] : byte_of(from.addr + k, from.thread);
  }
}
void upc_memput(upc_shared_ptr_t to, const void* from, size_t n) {
  put_last.count = 0;
  if (to.addr - begin < room - 8) { memcpy(near_memory[to.thread] + (to.addr - begin), from, n); return; }
  put_last.addr = to.addr, put_last.thread = to.thread, put_last.count = n;
  memcpy(put_last.bytes, from, n);
}
static int between(int from, int to) { return from + (int)((unsigned)rand() / 7 % (unsigned)(to - from + 1)); }
int main(int argc, char** argv) {
  long different = 0, own = 0;
  srand((unsigned)atoi(argv[1]));
  for (unsigned t = 0; t < 8; t++) {
    heaps[t] = near_memory[t];
    for (unsigned k = 0; k < sizeof near_memory[t]; k++) near_memory[t][k] = byte_of(begin + k, t);
  }
  for (unsigned threads = 1; threads <= 8; threads++)
    for (unsigned me = 0; me < threads; me++)
      for (int trial = 0; trial < 30; trial++) {
        upcr_job = (upcr_job_t){.mythread = me, .threads = threads, .log2_threads = threads & (threads - 1) ? -1 : __builtin_ctz(threads),
                              .heap_begin = begin, .reach = reach, .host = reach, .heaps = heaps};
        for (unsigned t = 0; t < threads; t++) reach[t] = trial % 4 == 0 ? 0 : (uint64_t)between(0, 1) * room;
        if (threads & (threads - 1)) upcr_job.dividends = UINT64_MAX / threads, upcr_job.reciprocal = upcr_job.dividends + 1;
        lo = between(-9, 9), n = between(-3, 40), k = between(-2, 12), over = between(1, 20), next = between(-3, 9), range = between(0, 5), found = between(0, 30), real = between(-4, 40) / 4.0;
        big = (unsigned)between(0, 30);
        const int from = lo, to = n;
        for (unsigned i = 0; i < sizeof loops / sizeof loops[0]; i++) {
          /* Variables without a sign have ends without one, or a loop has 2^32 iterations. */
          lo = loops[i].signed_ || from >= 0 ? from : -from, n = loops[i].signed_ || to > 0 ? to : 1 - to;
          far = (long)loops[i].largest - between(1, 4);
          a = (upcr_shared_ptr_t){1 << 20, (unsigned)between(0, (int)threads - 1) * (trial % 2), (unsigned)between(0, 11) * (trial % 3 == 0)};
          if (loops[i].block < 2) a.phase = 0; else a.phase %= loops[i].block;
          b = a, b.addr += 4096, c = d = b, c.phase = d.phase = 0, e = c, e.addr -= 512, e.thread = threads - 1;
          if (trial % 5 == 0) b.thread = 0, b.phase = 0;
          const upcr_shared_ptr_t before[] = {a, b, c, d, e};
          put_last.count = 0, l = 5;
          const result of_walk = loops[i].walk();
          a = before[0], b = before[1], c = before[2], d = before[3], e = before[4], l = 5, put_last.count = 0;
          const result of_all = loops[i].all();
          own += of_all.own;
          if (of_walk.sum == of_all.sum && of_walk.own == of_all.own && of_walk.behind == of_all.behind) continue;
          if (different++ < 5) printf("loop %u, thread %u of %u: %ld and %ld own ones, to %ld and %ld; lo %d n %d k %d far %ld big %u real %g, from %u %u\\n",
                 i, me, threads, of_walk.own, of_all.own, of_walk.behind, of_all.behind, lo, n, k, far, big, real, a.thread, a.phase);
        }
      }
  printf("%ld different\\n", different);
  return different != 0 || own < 1000;
}
"""


def place(index, block, array="a"):
    if block == 1:
        return f"UPCR_ADD_PSHARED1({array}, 8ULL, {index})"
    return f"UPCR_ADD_SHARED({array}, 8ULL, {index}, {block}ULL)" if block else f"UPCR_ADD_PSHAREDI({array}, 8ULL, {index})"


def read(p, berkeley):
    """In the ways of the translators: as a whole, or in steps, each in a variable."""
    kinds = [f"{{ long x; UPCR_GET_SHARED(&x, {p}, 0, 8); MORE(x); }}", f"{{ short x; UPCR_GET_SHARED(&x, {p}, 2, 2); MORE(x); }}",
             f"{{ double x[2]; UPCR_GET_SHARED(&x[1], {p}, 0ULL, 8ULL); MORE(((long*)x)[1]); }}", f"MORE(UPCR_GET_PSHARED_VAL({p}, 4, 4));",
             f"{{ float x = UPCR_GET_SHARED_FLOATVAL({p}, 4); int y; memcpy(&y, &x, 4); MORE(y); }}",
             f"{{ struct {{ long v[3]; }} x; UPCR_GET_SHARED(&x, {p}, 0, sizeof x); MORE(x.v[0] ^ x.v[2]); }}"]
    if not berkeley:
        return random.choice(kinds)
    # A statement a line; what the place is made of may change before it is used.
    first, *second = (p,) if not p.startswith("UPCR_ADD_SHARED(UPCR") else (re.match(r"UPCR_ADD_SHARED\((UPCR.*?\)), 8ULL, j", p)[1], p)
    lines = [f"q1 = {first};"] + [f"q2 = {q.replace(first, 'q1', 1)};" for q in second]
    last = "q2" if second else "q1"
    between = ["j = j + 1;", "sum = sum + 3;", "UPCR_GET_SHARED(&l, UPCR_ADD_PSHARED1((c), 8ULL, 3), 0, 1);", "l = l & 7;", "change_places();", "*(&j) = j + 1;",
               f"{last} = UPCR_ADD_SHARED({last}, 8ULL, 1, 8ULL);", "c = e;", "q1 = q1;"]
    if random.random() < 0.4:
        lines.insert(random.randint(1, len(lines)), random.choice(between))
    lines += random.choice(([f"UPCR_GET_SHARED(&got, {last}, 0, 8);", "sum = sum + got;"], [f"got = UPCR_GET_SHARED_VAL({last}, 0, 4);", "sum = sum * 3 + got;"],
                            [f"x = UPCR_GET_PSHARED_DOUBLEVAL({last}, 0);", "memcpy(&got, &x, 8);", "MORE(got);"],
                            [f"UPCR_GET_SHARED(&y, {last}, 0, 8);", f"UPCR_PUT_SHARED({last}, 0, &y, 8);", f"UPCR_GET_SHARED(&got, {last}, 0ULL, 8ULL);", "sum = sum + got;"]))
    return "".join(f"\n#line 3 \"a.upc\"\n        {line}" for line in lines) + "\n"


def write(p):
    plain = re.sub(r"\((\w+), 8ULL", r"((\1), 8ULL", p, count=1)
    put = random.choice((f"UPCR_PUT_SHARED({p}, 0, &y, 8);", f"UPCR_PUT_PSHARED_VAL({p}, 0, y, 8);",
                         f"{{ double d_; memcpy(&d_, &y, 8); UPCR_PUT_SHARED_DOUBLEVAL({p}, 0, d_); }}"))
    return f"{{ long x = upcr_get_shared_val({plain}, 0, 8), y = x + i + 1; {put} AGAIN({plain}); BACK(x, {plain}); }}"


def body(index, block, berkeley, far=False):
    """What an iteration leaves in the sum. Far ones have no other elements than their own, which would lie beyond 64 bits. A continue is a goto in the text of Berkeley's translator."""
    others = [place(random.choice(("i - 1", "i + 2", "3 * i", "k", "n - 2 * i", "l", "j")), random.choice((1, 3, 8, 12)), random.choice("ce")) for _ in range(3)]
    rows = place("j", 12, place(random.choice(("i * 12", "12 * (i + 1)")), 12, random.choice("ce")))
    moved = "UPCR_ADD_SHARED(d, 8ULL, k, 8ULL)"
    parts = [f"PLACE({others[0]})", f"for (j = 0; j < 4; j++) {{ {read(rows, berkeley)} }}", read(others[1], berkeley), write(others[2]),
             f"d = {moved}; {read(place('i', 8, 'd'), False)}", "if (i & 1) change_places();"]
    if far:
        parts = ["MORE(7);"] * 4
    accesses = "PLACE(UPCR_ADD_PSHARED1(c, 4ULL, i)) "
    if index:
        accesses = f"PLACE({place(index, block)}) PLACE({place(index, block, 'b')}) PLACE({place('i', 1, 'c')}) "
        parts += [read(place(index, block, random.choice("ab")), berkeley), write(place(index, block, random.choice("ab")))]
        if block > 1:
            parts.append(f"for (j = -1; j < 3; j++) {{ {read(place('j', block, place(index, block)), berkeley)} }}")
    if random.random() < 0.15:
        parts = [f"INNER for (j = 0; j < k; j++) if (upcr_hasMyAffinity_shared({place('j', 8, 'e')})) {{ {read(place('j', 8, 'e'), False)} }}"] * 4
    accesses += " ".join(random.sample(parts, 1 if "INNER" in parts[0] else random.randint(1, 4)))
    return f"own++; MORE(i); if (i == 4) LEAVE; {accesses} if (own == 200) goto enough;"


def inner(text, marked):
    """A loop within the body is one of upc_forall, or no walk."""
    return text.replace("INNER", "upcrt_forall_control = 1;" if marked else "")


def of_clang(kind, begin, condition, test, text, marked):
    step = random.choice(("i++", "++i", "i = i + 1", "i += 1"))
    declared = random.random() < 0.3
    head = f"for ({kind + ' ' if declared else ''}i = {begin}; {condition}; {step})"
    text = text.replace("LEAVE", "continue")
    inner = f"{{ {text} }}" if random.random() < 0.7 else f"if (own >= 0) {{ {text} }} else {{ own = 0; }}"
    mark = "upcrt_forall_control = 1;" if marked else ""
    return f"  {kind} i = 0;\n  {mark}\n  {head}\n    if ({test})\n      {inner}\n"


def of_berkeley(kind, begin, condition, steps, test, text, marked):
    text = text.replace("LEAVE", "{ goto _1; }")
    mark = "(*((_INT32 *) UPCR_TLD_ADDR( upcr_forall_control ))) = 1;" if marked else ""
    return (f"  {kind} i = 0;\n  upcr_shared_ptr_t p, q;\n  int t, m, mine;\n  {mark}\n#line 3 \"a.upc\"\n    i = {begin};\n#line 3 \"a.upc\"\n"
            f"    while({condition})\n#line 3 \"a.upc\"\n    {{\n{''.join(f'      {s};{chr(10)}' for s in steps)}      if({test})\n      {{\n"
            f"{text}\n      }}\n#line 5 \"a.upc\"\n      _1 :;\n#line 5 \"a.upc\"\n      i = i + {random.choice(('1', '1LL', '1L'))};\n    }}\n")


def turns(number):
    """A loop by hand, in steps of THREADS."""
    kind, end = random.choice(KINDS), random.choice([e for e in ENDS if e != "far"])
    condition = f"i {random.choice(('<', '<='))} {end}"
    text, state = "", random.getstate()
    for name, nothing in ("walk", ""), ("all", " + 0"):
        random.setstate(state)
        berkeley = random.random() < 0.5
        inside = body("i", 1, berkeley)
        if not berkeley:
            head = f"for ({kind + ' ' if random.random() < 0.3 else ''}i = {random.choice(('MYTHREAD', 'upcr_mythread()'))}{nothing}; {condition}; "
            loop = f"  {head}i += {random.choice(('THREADS', 'upcr_threads()'))}) {{ {inside.replace('LEAVE', 'continue')} }}\n"
        else:
            loop = (f"    i = ((int) upcr_mythread () ){nothing};\n#line 3 \"a.upc\"\n    while({condition})\n    {{\n{inside.replace('LEAVE', '{ goto _1; }')}\n"
                    f"      _1 :;\n#line 5 \"a.upc\"\n      i = i + ((int) upcr_threads () );\n    }}\n")
        loop = inner(loop, not nothing)
        text += (f"__attribute__((noinline)) static result {name}_{number}(void) {{\n  unsigned long sum = 0;\n  long own = 0, got, y, j = 0;\n  double x;\n  upcr_shared_ptr_t q1, q2;\n  {kind} i = 0;\n{loop}"
                 f"enough:\n  return (result){{sum, own, (long)i}};\n}}\n")
    return text, 1, 1 + ("INNER" in inside), kind


def functions(number):
    """The text of one loop twice, and its block; whether it is to be a walk."""
    kind, begin, end = random.choice(KINDS), random.choice(BEGINS), random.choice(ENDS)
    sign = random.choice(("<", "<="))
    block, other = random.choice(BLOCKS), random.random() < 0.1
    by_number, berkeley = random.random() < 0.4, random.random() < 0.5
    index = random.choice(OTHERS if other else NUMBERS if by_number else INDEXES)
    if other and by_number and index == "table[i & 3]":
        index = "i * i"
    if end == "far":
        begin = "far - 20"
    far = end == "far" and "long" in kind.replace("_INT64", "long")
    condition = f"i {sign} {end}"
    steps = []
    if by_number:
        block = 1
        test = f"({index}) % upcr_threads() == upcr_mythread()"
        inside = body(index if "/" not in index else None, 1, berkeley, far)
        if berkeley:
            steps = ["t = upcr_threads()", "m = upcr_mythread()"]
            test = random.choice((f"(({index}) % t) == m", f"_I4MOD({index}, t) == m", f"_I8MOD({index}, t) == m"))
    else:
        p = place(index, block)
        nested = random.random() < 0.2 and not other
        if nested:
            p = place("k", block, f"({p})" if random.random() < 0.5 else p)
        test = f"upcr_hasMyAffinity_shared({p})"
        inside = body(index, block, berkeley, far)
        if berkeley:
            steps = ["p = " + p] if not nested else ["q = " + place(index, block), "p = " + place("k", block, "q")]
            steps.append("mine = upcr_hasMyAffinity_shared(p)")
            test = "mine != 0"
    state = random.getstate()
    text = ""
    for name, marked in ("walk", True), ("all", False):
        random.setstate(state)
        loop = (of_berkeley(kind, begin, condition, steps, test, inside, marked) if berkeley else
                of_clang(kind, begin, condition, test, inside, marked))
        loop = inner(loop, marked)
        text += (f"__attribute__((noinline)) static result {name}_{number}(void) {{\n  unsigned long sum = 0;\n  long own = 0, got, y, j = 0;\n  double x;\n  upcr_shared_ptr_t q1, q2;\n{loop}"
                 f"enough:\n  return (result){{sum, own, (long)i}};\n}}\n")
    return text, block, (not other and (index != "k" or not by_number)) + ("INNER" in inside), kind


def program(seed, count):
    random.seed(seed)
    text, rows, walks = HEAD + "typedef struct { unsigned long sum; long own, behind; } result;\n", "", 0
    for i in range(count):
        one, block, walk, kind = turns(i) if random.random() < 0.1 else functions(i)
        text += one
        rows += f"  {{walk_{i}, all_{i}, {block}, ({kind})-1 < 0, ({kind})-1 < 0 ? ~0ul >> (65 - 8 * sizeof({kind})) : ({kind})-1}},\n"
        walks += walk
    return f"{text}static const struct {{ result (*walk)(void), (*all)(void); unsigned block; int signed_; unsigned long largest; }} loops[] = {{\n{rows}}};\n#include <limits.h>\n{MAIN}", walks
