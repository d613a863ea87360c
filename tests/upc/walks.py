# SPDX-License-Identifier: BSD-3-Clause
"""Loops of upc_forall as both translators write them, each beside a copy that weftcc leaves as it is: a program in C that
compares the iterations of the two, their order, the places in their bodies, and what the variable is behind them, for every
thread of 1 to 8. The library's part of a walk is compiled into it, so no job is needed.
"""

import random

KINDS = ("int", "long", "unsigned", "unsigned long", "short", "signed char", "_INT64")
INDEXES = ("i", "(i)", "i + 1", "i - 3", "2 * i", "3 * i + k", "n - i", "k - 2 * i", "i * k", "i * 5 + k", "(_INT64)((_UINT64)(i) * 6ULL)",
           "(i * 16UL)", "i * (int) upcr_threads()", "(long)(k) * i", "(unsigned)(i * 7)", "-i", "k")
NUMBERS = INDEXES[:-1] + ("i * (int) upcr_threads() / d", "i / 4", "(i + k) / d", "i * k / 3", "2 * i / (d + 1)")
# The last is what is no walk: the variable twice, a call, or a quotient in a sum.
OTHERS = ("i * i", "twice(i)", "i / 2 + 1", "table[i & 3]", "(int)(i * real)")
BLOCKS = (1, 1, 2, 3, 4, 5, 8, 12, 0)
BEGINS = ("0", "lo", "3", "-2", "lo - 1", "(int)(lo)")
ENDS = ("n", "lo + n", "12", "2 * n - 1", "(((int) upcr_threads () ) * 4)", "lo", "far", "real", "big")
HEAD = """#include "upcr.h"
#include "upcr_proxy.h"
#define UPCR_SHARED_SIZE_ 16
#define UPCR_PSHARED_SIZE_ 16
int lo, n, k, d, table[4] = {2, 0, 1, 7};
long far;
unsigned big;
double real;
upcr_shared_ptr_t a, b, c;
int twice(int x) {
  return 2 * x;
}
#define MORE(...) sum = sum * 31 + (__VA_ARGS__)
#define PLACE(...) { const upcr_shared_ptr_t p_ = __VA_ARGS__; MORE(p_.addr); MORE(p_.thread); MORE(p_.phase); }
"""
MAIN = """
#undef UPCR_UNIT
upcr_job_t upcr_job;
int32_t upcrt_forall_control;
static int between(int from, int to) { return from + (int)((unsigned)rand() / 7 % (unsigned)(to - from + 1)); }
int main(int argc, char** argv) {
  long different = 0, own = 0;
  srand((unsigned)atoi(argv[1]));
  for (unsigned threads = 1; threads <= 8; threads++)
    for (unsigned me = 0; me < threads; me++)
      for (int trial = 0; trial < 30; trial++) {
        upcr_job = (upcr_job_t){.mythread = me, .threads = threads, .log2_threads = threads & (threads - 1) ? -1 : __builtin_ctz(threads)};
        if (threads & (threads - 1)) upcr_job.dividends = UINT64_MAX / threads, upcr_job.reciprocal = upcr_job.dividends + 1;
        lo = between(-9, 9), n = between(-3, 40), k = between(-2, 12), d = between(1, 20), real = between(-4, 40) / 4.0;
        big = (unsigned)between(0, 30);
        const int from = lo, to = n;
        for (unsigned i = 0; i < sizeof loops / sizeof loops[0]; i++) {
          /* Variables without a sign have ends without one, or a loop has 2^32 iterations. */
          lo = loops[i].signed_ || from >= 0 ? from : -from, n = loops[i].signed_ || to > 0 ? to : 1 - to;
          far = (long)loops[i].largest - between(1, 4);
          a = (upcr_shared_ptr_t){1 << 20, (unsigned)between(0, (int)threads - 1) * (trial % 2), (unsigned)between(0, 11) * (trial % 3 == 0)};
          if (loops[i].block < 2) a.phase = 0; else a.phase %= loops[i].block;
          b = a, b.addr += 4096, c = b, c.phase = 0;
          if (trial % 5 == 0) b.thread = 0, b.phase = 0;
          result of_walk = loops[i].walk(), of_all = loops[i].all();
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


def body(index, block):
    """What an iteration leaves in the sum. A continue is a goto in the text of Berkeley's translator."""
    accesses = f"PLACE({place(index, block)}) PLACE({place(index, block, 'b')}) PLACE({place('i', 1, 'c')})" if index else "PLACE(UPCR_ADD_PSHARED1(c, 4ULL, i))"
    return f"own++; MORE(i); if (i == 4) LEAVE; {accesses} if (own == 200) goto enough;"


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
        inside = body("i", 1)
        if random.random() < 0.5:
            head = f"for ({kind + ' ' if random.random() < 0.3 else ''}i = {random.choice(('MYTHREAD', 'upcr_mythread()'))}{nothing}; {condition}; "
            loop = f"  {head}i += {random.choice(('THREADS', 'upcr_threads()'))}) {{ {inside.replace('LEAVE', 'continue')} }}\n"
        else:
            loop = (f"    i = ((int) upcr_mythread () ){nothing};\n#line 3 \"a.upc\"\n    while({condition})\n    {{\n{inside.replace('LEAVE', '{ goto _1; }')}\n"
                    f"      _1 :;\n#line 5 \"a.upc\"\n      i = i + ((int) upcr_threads () );\n    }}\n")
        text += (f"__attribute__((noinline)) static result {name}_{number}(void) {{\n  unsigned long sum = 0;\n  long own = 0;\n  {kind} i = 0;\n{loop}"
                 f"enough:\n  return (result){{sum, own, (long)i}};\n}}\n")
    return text, 1, True, kind


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
    condition = f"i {sign} {end}"
    steps = []
    if by_number:
        block = 1
        test = f"({index}) % upcr_threads() == upcr_mythread()"
        inside = body(index if "/" not in index else None, 1)
        if berkeley:
            steps = ["t = upcr_threads()", "m = upcr_mythread()"]
            test = random.choice((f"(({index}) % t) == m", f"_I4MOD({index}, t) == m", f"_I8MOD({index}, t) == m"))
    else:
        p = place(index, block)
        nested = random.random() < 0.2 and not other
        if nested:
            p = place("k", block, f"({p})" if random.random() < 0.5 else p)
        test = f"upcr_hasMyAffinity_shared({p})"
        inside = body(index, block)
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
        text += (f"__attribute__((noinline)) static result {name}_{number}(void) {{\n  unsigned long sum = 0;\n  long own = 0;\n{loop}"
                 f"enough:\n  return (result){{sum, own, (long)i}};\n}}\n")
    return text, block, not other and (index != "k" or not by_number), kind


def program(seed, count):
    random.seed(seed)
    text, rows, walks = HEAD + "typedef struct { unsigned long sum; long own, behind; } result;\n", "", 0
    for i in range(count):
        one, block, walk, kind = turns(i) if random.random() < 0.1 else functions(i)
        text += one
        rows += f"  {{walk_{i}, all_{i}, {block}, ({kind})-1 < 0, ({kind})-1 < 0 ? ~0ul >> (65 - 8 * sizeof({kind})) : ({kind})-1}},\n"
        walks += walk
    return f"{text}static const struct {{ result (*walk)(void), (*all)(void); unsigned block; int signed_; unsigned long largest; }} loops[] = {{\n{rows}}};\n#include <limits.h>\n{MAIN}", walks
