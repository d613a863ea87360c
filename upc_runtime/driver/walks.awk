# SPDX-License-Identifier: BSD-3-Clause
# A part of weftcc: what it makes of loops of upc_forall in translated text, which go over all elements and test each. They
# become walks from own element to own element (upcr/forall.h says of which, and how), where the variable rises by 1 and
# begins and ends at what is made of numbers and names, where the affinity is that variable times one of these, and more or
# less by one, as a number, divided or not, or as an index in a shared array, and where the body leaves these names as they are.
# Loops by hand, in steps of THREADS from MYTHREAD on, stay, but their elements cost no division.
function skip(p) { while (match(substr(text, p, 999), /^([ \t\r\n]+|#[^\n]*\n)/)) p += RLENGTH; return p }
function trimmed(s) { gsub(/^[ \t\n]+|[ \t\n]+$/, "", s); return s }
function find(p, what,   m) {
  for (; p <= length(text); p += 4096) if ((m = match(substr(text, p, 4096), what))) return p + m - 1
  return length(text) + 1
}
# Where the bracket is closed that opens at p, and where the statement ends that begins there; beyond the text where nowhere.
function closing(p,   depth, c) {
  for (; p <= length(text); p = find(p, "[(){}\"\047]")) {
    c = substr(text, p, 1)
    if (c ~ /["\047]/) p = past_quotes(p, c)
    else if (!(depth += (c ~ /[({]/) - (c ~ /[)}]/))) return p
    else p++
  }
  return length(text) + 1
}
function past_quotes(p, c) { return p + (match(substr(text, p, 4096), c == "\"" ? "^\"([^\"\\\\]|\\\\.)*\"" : "^\047([^\047\\\\]|\\\\.)*\047") ? RLENGTH : 1) }
function statement_end(p,   c, is_if) {
  p = skip(p)
  if (substr(text, p, 1) == "{") return closing(p)
  if (match(substr(text, p, 99), /^(for|while|if|switch) *\(/)) {
    is_if = substr(text, p, 2) == "if"
    p = statement_end(closing(p + RLENGTH - 1) + 1)
    return is_if && substr(text, skip(p + 1), 4) == "else" ? statement_end(skip(p + 1) + 4) : p
  }
  if (substr(text, p, 3) == "do ") p = statement_end(p + 3) + 1
  for (; p <= length(text); p = find(p, "[(){};\"\047]")) {
    c = substr(text, p, 1)
    if (c == ";") return p
    p = c ~ /["\047]/ ? past_quotes(p, c) : c ~ /[({]/ ? closing(p) + 1 : p + 1
  }
  return p
}
# The list of what stands between commas, in argument[1] and on.
function arguments(s,   count, depth, i, c) {
  argument[count = 1] = ""
  for (i = 1; i <= length(s); i++) {
    c = substr(s, i, 1)
    depth += (c == "(") - (c == ")")
    if (c == "," && !depth) argument[++count] = ""
    else argument[count] = argument[count] c
  }
  for (i = 1; i <= count; i++) argument[i] = trimmed(argument[i])
  return count
}
function in_brackets(s,   depth, i, c) { # as a whole
  if (s !~ /^\(.*\)$/) return 0
  for (i = 1; i < length(s); i++) { c = substr(s, i, 1); if (!(depth += (c == "(") - (c == ")"))) return 0 }
  return 1
}
function bare(s) { gsub(/[ \t\n]/, "", s); while (in_brackets(s)) s = substr(s, 2, length(s) - 2); return s }

# How often the variable v stands in an expression of numbers, names, THREADS, MYTHREAD and conversions to integers of
# 32 or 64 bits by + - * and /; -1 if it is another expression, if v is divided, or if what is converted has a name whose
# type may be a real one. The names are added to `names`.
function occurrences(s,   d) {
  e = s; bad = 0; at = 1
  if (v == "" || e ~ /@/) return -1
  gsub(/\(\*\(\((int|long|unsigned int|_U?INT(32|64)) \*\) *UPCR_TLD_ADDR\( *[A-Za-z0-9_]+ *\)\)\)|upcr_(my)?threads? *\( *\)/, "0", e)
  gsub(/\( *(unsigned|int|long|long int|long long|unsigned (int|long|long long)|size_t|ptrdiff_t|u?int(32|64)_t|_U?INT(32|64)) *\)/, "@", e)
  if (e ~ /[A-Za-z0-9_] +[A-Za-z0-9_]|\+ *\+|- *-|[^-A-Za-z0-9_ ()+*\/@]/) return -1
  gsub(/ /, "", e)
  d = sum(0)
  return bad || at <= length(e) ? -1 : d
}
function sum(cast,   d) {
  for (d = product(cast); substr(e, at, 1) ~ /[-+]/; d += product(cast)) at++
  return d
}
function product(cast,   d, more, s) {
  for (d = factor(cast); (s = substr(e, at, 1)) ~ /[*\/]/; d += more) {
    at++
    more = factor(cast)
    if (s == "/" && d + more) bad = 1
  }
  return d
}
function factor(cast,   d, s) {
  s = substr(e, at, 1)
  if (s ~ /[-+]/) { at++; return factor(cast) }
  if (s == "@") { at++; return factor(1) }
  if (s == "(") {
    at++
    d = sum(cast == 1 && substr(e, at) !~ /^[A-Za-z0-9_]+\)/ ? 2 : cast)
    if (substr(e, at++, 1) != ")") bad = 1
    return d
  }
  if (!match(substr(e, at), /^[A-Za-z0-9_]+/)) { bad = 1; return 0 }
  s = substr(e, at, RLENGTH); at += RLENGTH
  if (s == v) return 1
  if (s ~ /^[A-Za-z_]/) { names = names " " s; if (cast == 2 && s !~ /^(MY)?THREADS?$/) bad = 1 }
  else if (s !~ /^[0-9]+[uUlL]*$/) bad = 1
  return 0
}
# Whether a body may change what the name stands for.
function changes(body, name,   before, after) {
  before = "(^|[^A-Za-z0-9_.>])"; after = "([^A-Za-z0-9_]|$)"
  return body ~ (before name " *([-+*/%&|^]|<<|>>)?=[^=]") || body ~ (before name " *(\\+\\+|--)") || body ~ ("(\\+\\+|--) *\\(?" name after) ||
    body ~ ("([[(,=?:;{}|!]|return) *& *\\(?" name after) || body ~ ("(int|long|short|char|unsigned|float|double|_t|_U?INT(8|16|32|64)|_IEEE(32|64))[ *]+" name " *[;,[]")
}

# A place with the sums in it that variables of the translator stand for.
function resolved(s,   sum_of, count, i, others) {
  for (s = trimmed(s); in_brackets(s); ) s = trimmed(substr(s, 2, length(s) - 2))
  if (s in defined) return resolved(defined[s])
  if (!match(s, add)) return s
  sum_of = substr(s, 1, RLENGTH)
  count = arguments(substr(s, RLENGTH + 1, length(s) - RLENGTH - 1))
  for (i = 2; i <= count; i++) others = others ", " argument[i]
  return sum_of resolved(argument[1]) others ")"
}
# A place that moves with v: a pointer's sum with an index, or several ones in one layout. It is left in `place`, its
# parts in base, size, block and index_.
function is_place(s,   more, count, of, all, parts) {
  all = parts = 0; block = ""; index_ = ""
  place = s = resolved(s)
  for (more = 0; s ~ add; more++) {
    of = s ~ /^[A-Za-z_]+I *\(/ ? 0 : s ~ /^[A-Za-z_]+1 *\(/ ? 1 : ""
    match(s, add)
    if (substr(s, length(s)) != ")" || (count = arguments(substr(s, RLENGTH + 1, length(s) - RLENGTH - 1))) != (of == "" ? 4 : 3)) return 0
    if (of == "") { of = argument[4]; sub(/[uUlL]+$/, "", of) }
    if (of !~ /^[0-9]+$/ || argument[2] !~ /^([0-9]+[uUlL]*|sizeof\([a-z ]+\))$/ || (more && (of != block || argument[2] != size))) return 0
    block = of; size = argument[2]; s = argument[1]
    if ((count = occurrences(argument[3])) < 0) return 0
    all += count
    if (bare(argument[3]) !~ /^0[uUlL]*$/) { index_ = argument[3]; parts++ }
  }
  base = s; names = names " " s
  if (parts != 1) index_ = ""
  return more && all <= 1 && s ~ /^[A-Za-z_][A-Za-z0-9_]*$/
}
# A number that moves with v, or one of it divided by what does not: parts in index_ and block.
function is_number(s,   depth, i, c, over) {
  s = trimmed(s)
  if (s !~ /^[A-Za-z_][A-Za-z0-9_]*$/ && !in_brackets(s)) return 0
  while (in_brackets(s)) s = trimmed(substr(s, 2, length(s) - 2))
  for (i = 1; i <= length(s); i++) {
    c = substr(s, i, 1)
    depth += (c == "(") - (c == ")")
    if (!depth && c ~ /[-+]/) { over = 0; break }
    if (!depth && c ~ /[*\/]/) over = c == "/" ? i : 0
  }
  index_ = over ? trimmed(substr(s, 1, over - 1)) : s; block = over ? trimmed(substr(s, over + 1)) : "1"
  return occurrences(index_) == 1 && occurrences(block) == 0
}
# The text of a walk over v from lo to end. Elements of the body, from p to `to`, that have the index of the walk go with
# it; others in blocks of 8 or more go by the block that was the last one at their place. What is declared around the loop
# is left in `around`.
function walk(lo, sign, end, test, p, to,   body, name, i, count, w, elements) {
  body = substr(text, p, to - p)
  if (changes(body, v)) return ""
  count = split(names, name, " ")
  for (i = 1; i <= count; i++) if (changes(body, name[i])) return ""
  w = "upcri_walk_" ++walks
  start = w " = UPCRI_WALK_" (is_of_places ? "PLACES" : "NUMBERS") "(" v ", " lo ", " sign ", " end ", " (is_of_places ? place ", " size ", " block ", " base : number_type "(" index_ "), " block) ")"
  condition = "UPCRI_WALK_IN(" w ", " v ") || UPCRI_WALK_ON(" w ", " v ", " sign ", " end ", " test ")"
  step = "UPCRI_WALK_STEP(" w ", " v ")"
  elements = index_ != "" && (is_of_places || block == "1") ? bare(index_) : ""
  body = with_elements(body, w, elements)
  text = substr(text, 1, p - 1) body substr(text, to)
  return w
}
function with_elements(body, w, wanted,   all, i, more, opens, closes, found, head, access_to, blocks, declared) {
  all = text; body = text = with_sums(body)
  for (i = 1; match(substr(text, i), /(UPCR_ADD_P?SHARED1?|upcr_add_p?shared1?) *\(/); i += more) {
    i += RSTART - 1; more = RLENGTH
    opens = i + RLENGTH - 1; closes = closing(opens)
    if (substr(text, i - 30 > 1 ? i - 30 : 1, i > 30 ? 30 : i - 1) ~ /hasMyAffinity_p?shared *\( *$/) continue # of a loop within
    if (!is_element(substr(text, opens + 1, closes - opens - 1))) continue
    if (wanted != "" && bare(first_index) == wanted && element_block == block)
      found = "UPCRI_WALKED(" element_base ", " element_size ", " first_index ", " (more_indexes == "" ? "0" : more_indexes) ", " block ", " w ")"
    else if (element_block + 0 >= 8 && !assigns(body, element_base)) {
      found = "upcri_block_" walks "_" ++blocks
      declared = declared (blocks > 1 ? ", " : "upcri_block_t ") found " = UPCRI_NO_BLOCK"
      found = "upcri_in_block(" element_base ", " element_size ", " (more_indexes == "" ? "" : more_indexes " + (ptrdiff_t)") "(" first_index "), " \
        element_block ", &" found ", upcri_here)"
    } else continue
    walked++
    # An access takes it as it is found, all else as a pointer.
    head = i > 200 ? i - 200 : 1
    if (match(substr(text, head, i - head), access)) {
      head += RSTART - 1
      access_to = "UPCRI_AT_" substr(text, head + 5, i - head - 5); sub(/PSHARED/, "SHARED", access_to)
      more = length(access_to) + index(found, "("); i = head
      text = substr(text, 1, head - 1) access_to found substr(text, closes + 1)
    } else {
      more = index(found, "(")
      text = substr(text, 1, i - 1) found ".pointer" substr(text, closes + 1)
    }
  }
  body = text; text = all
  around = "for (upcri_here_t upcri_here = upcri_look_here(); upcri_here.once; upcri_here.once = 0) "
  if (blocks) around = around "for (" declared "; upcri_here.once; upcri_here.once = 0) "
  return body
}
# Berkeley's translator has a statement in each line, and puts elements into variables: accesses behind them get the sums
# instead, as long as no statement between may change what these are made of.
function with_sums(body,   line, count, i, s, name, t, added, known, out) {
  if (body !~ /\n *[A-Za-z_][A-Za-z0-9_]* = UPCR_ADD_P?SHARED/) return body
  count = split(body, line, "\n")
  for (i = 1; i <= count; i++) {
    out = out (i > 1 ? "\n" : ""); s = trimmed(line[i])
    if (s == "" || s ~ /^#line /) { out = out line[i]; continue }
    if (s !~ /^[^;{}:]*;$/ || s ~ /^(return|goto|break|continue)/) { out = out line[i]; split("", known); continue }
    name = ""; t = s
    if (match(s, /^[A-Za-z_][A-Za-z0-9_]* = /)) { name = substr(s, 1, RLENGTH - 3); t = substr(s, RLENGTH + 1) }
    added = t ~ /^UPCR_ADD_P?SHARED1?\(/
    if (match(t, added ? "^UPCR_ADD_P?SHARED1?\\(" : "^UPCR_(GET|PUT)_P?SHARED(_(FLOAT|DOUBLE)?VAL)?\\(") && in_brackets(substr(t, RLENGTH, length(t) - RLENGTH))) {
      s = substr(t, 1, RLENGTH); t = substr(t, RLENGTH + 1, length(t) - RLENGTH - 2)
      if (s ~ /^UPCR_GET_P?SHARED\($/ && match(t, /^&[A-Za-z_][A-Za-z0-9_]*, /)) { name = substr(t, 2, RLENGTH - 3); s = s substr(t, 1, RLENGTH); t = substr(t, RLENGTH + 1) }
      else if (s ~ /^UPCR_GET_P?SHARED\($/) t = "&" t
      if (match(t, /^[A-Za-z_][A-Za-z0-9_]*,/) && (substr(t, 1, RLENGTH - 1) in known)) {
        t = s known[substr(t, 1, RLENGTH - 1)] substr(t, RLENGTH)
        out = out (s ~ /GET_P?SHARED\(/ || name == "" ? "" : name " = ") t ");"
      } else { out = out line[i]; t = s t }
      t = t ")"
    } else out = out line[i]
    # What is changed in the statement; all may be in one that is not known.
    s = t
    gsub(/UPCR_(ADD|GET|PUT)_P?SHARED(1|_(FLOAT|DOUBLE)?VAL)?\(|upcr_(my)?threads? *\(/, "(", s)
    if (name == "" && t !~ /^UPCR_PUT/ || s ~ /[A-Za-z0-9_] *\(|[-+][-+]|[^=!<>]=[^=]/ || (s ~ /&/ && t !~ /^UPCR_GET_P?SHARED\(&[A-Za-z_][A-Za-z0-9_]*, /)) { split("", known); continue }
    delete known[name]
    for (s in known) if (known[s] ~ ("(^|[^A-Za-z0-9_])" name "([^A-Za-z0-9_]|$)")) delete known[s]
    if (added && t ~ /^[-A-Za-z0-9_ ()+*\/,]*$/ && t !~ ("(^|[^A-Za-z0-9_])" name "([^A-Za-z0-9_]|$)")) known[name] = t
  }
  return out
}
# The parts of an element of what is between the brackets of a sum: of a name, with one index, or with several in one layout
# of blocks of 8 or more, the first in first_index.
function is_element(s,   count, of) {
  more_indexes = element_block = ""
  for (;;) {
    count = arguments(s); of = count == 4 ? argument[4] : "1"
    sub(/[uUlL]+$/, "", of)
    if (count < 3 || count > 4 || of !~ /^[0-9]+$/ || (more_indexes != "" && (of + 0 < 8 || of != element_block || argument[2] != element_size))) return 0
    element_base = argument[1]; element_size = argument[2]; first_index = argument[3]; element_block = of
    if (element_base ~ /^[A-Za-z_][A-Za-z0-9_]*$/) return 1
    while (in_brackets(element_base)) element_base = trimmed(substr(element_base, 2, length(element_base) - 2))
    if (!match(element_base, /^(UPCR_ADD_SHARED|upcr_add_shared) *\(/) || !in_brackets(substr(element_base, RLENGTH))) return 0
    more_indexes = (more_indexes == "" ? "" : more_indexes " + ") "(ptrdiff_t)(" first_index ")"
    s = substr(element_base, RLENGTH + 1, length(element_base) - RLENGTH - 1)
  }
}
function assigns(body, name) { return body ~ ("(^|[^A-Za-z0-9_.>])" name " *=[^=]") }
# A loop by hand over the own elements of blocks of 1: for (i = MYTHREAD; condition; i += THREADS), or Berkeley's text of it.
function in_turns(p,   own, turn, part, closes, after, to, w, s, t, before) {
  own = "[( ]*(\\(int\\) *)?(MYTHREAD|upcr_mythread *\\( *\\))[ )]*$"; turn = "[( ]*(\\(int\\) *)?(THREADS|upcr_threads *\\( *\\))[ )]*$"
  is_of_places = 0; block = "1"; names = ""; number_type = ""; walked = 0; before = text
  if (substr(text, p, 5) == "for (") {
    closes = closing(p + 4); after = closes + 1
    if (split(substr(text, p + 5, closes - p - 5), part, /; */) != 3 || !match(part[1], / = /)) return
    v = substr(part[1], 1, RSTART - 1); sub(/.* /, "", v)
    if (v !~ /^[A-Za-z_][A-Za-z0-9_]*$/ || part[1] !~ ("(^| )" v " = " own) || part[3] !~ ("^" v " (\\+=|= " v " \\+) " turn)) return
    index_ = v
    w = walk("", "", "", "", after, statement_end(after))
    if (!walked) { text = before; return }
    text = substr(text, 1, p - 1) around "for (upcri_walk_t " w " = {.once = 1}; " w ".once; " w ".once = 0) for (" part[1] "; " part[2] \
      "; UPCRI_TURN(" w ", " v "))" substr(text, after)
    return
  }
  to = find(p, ";"); s = trimmed(substr(text, p, to - p))
  v = s; sub(/ = .*/, "", v)
  if (v !~ /^[A-Za-z_][A-Za-z0-9_]*$/ || s !~ (" = " own)) return
  p = skip(to + 1)
  if (substr(text, p, 6) != "while(") return
  closes = closing(p + 5); after = skip(closes + 1); to = closing(after)
  t = substr(text, after, to - after)
  if (substr(t, 1, 1) != "{" || !match(t, "[;:{}]([ \t\n]|#[^\n]*\n)*" v " = " v " \\+ [( ]*(\\(int\\) *)?upcr_threads *\\( *\\)[ )]*;([ \t\n]|#[^\n]*\n)*$")) return
  s = substr(t, RSTART + 1); sub(v " = [^;]*", "\001", s)
  to = after + RSTART
  text = substr(text, 1, to - 1) s substr(text, after + length(t))
  index_ = v
  w = walk("", "", "", "", after, to)
  if (!walked) { text = before; return }
  sub("\001", "UPCRI_TURN(" w ", " v ")", text)
  text = substr(text, 1, p - 1) around "for (upcri_walk_t " w " = {.once = 1}; " substr(text, p + 6, closes - p - 6) "; )" substr(text, closes + 1)
}
function bounds(s) { # of a condition: sign and end
  sign = index(s, v " <= ") == 1 ? "<=" : index(s, v " < ") == 1 ? "<" : ""
  end = substr(s, length(v " " sign " ") + 1)
  names = ""
  return sign != "" && occurrences(lo) == 0 && occurrences(end) == 0
}
# clang-upc2c: for (i = lo; i < end; i++) if (test) body
function with_for(p,   closes, part, opens, test, after, w, left, i) {
  split("", defined); number_type = ""
  closes = closing(p + 4)
  if (split(substr(text, p + 5, closes - p - 5), part, /; */) != 3 || !(i = index(part[1], " = "))) return
  left = substr(part[1], 1, i - 1); lo = trimmed(substr(part[1], i + 3))
  if (left !~ /^([A-Za-z_][A-Za-z0-9_ ]* )?[A-Za-z_][A-Za-z0-9_]*$/) return
  v = left; sub(/.* /, "", v)
  if (part[3] != v "++" && part[3] != "++" v && part[3] != v " = " v " + 1" && part[3] != v " += 1") return
  opens = skip(closes + 1)
  if (!bounds(part[2]) || substr(text, opens, 4) != "if (") return
  after = closing(opens + 3) + 1
  test = trimmed(substr(text, opens + 4, after - opens - 5))
  i = index(test, "(")
  is_of_places = test ~ /^upcr_hasMyAffinity_p?shared\(/ && in_brackets(substr(test, i))
  if (is_of_places) { if (!is_place(substr(test, i))) return }
  else if (!match(test, / % (upcr_threads\(\)|THREADS) == (upcr_mythread\(\)|MYTHREAD)$/) || !is_number(substr(test, 1, RSTART - 1))) return
  if ((w = walk(lo, sign, end, test, after, statement_end(after))) == "") return
  text = substr(text, 1, p - 1) around "for (upcri_walk_t " w " = {.once = 1}; " w ".once; " w ".once = 0) for (" left " = ({ " start "; " v "; }); " \
    condition "; " step ")" substr(text, closes + 1, opens - closes - 1) "if (1)" substr(text, after)
}
# Berkeley's translator: i = lo; while(i < end) { what the test needs; if(test) { ... } i = i + 1; }
function with_while(p,   s, t, i, count, name, head, closes, opens, first, test, after, to, before) {
  to = find(p, ";"); s = trimmed(substr(text, p, to - p))
  if (!(i = index(s, " = "))) return
  v = substr(s, 1, i - 1); lo = substr(s, i + 3)
  head = skip(to + 1)
  if (v !~ /^[A-Za-z_][A-Za-z0-9_]*$/ || substr(text, head, 6) != "while(") return
  closes = closing(head + 5); opens = skip(closes + 1)
  if (!bounds(substr(text, head + 6, closes - head - 6)) || substr(text, opens, 1) != "{") return
  split("", defined); split("", assigned); number_type = ""
  for (first = skip(opens + 1); substr(text, first, 3) != "if("; first = skip(to + 1)) {
    to = find(first, ";"); s = trimmed(substr(text, first, to - first))
    if (!match(s, /^[A-Za-z_][A-Za-z0-9_]* = /)) return
    t = substr(s, RLENGTH + 1); assigned[i = substr(s, 1, RLENGTH - 3)] = t
    if (t ~ add) defined[i] = t
    else if (t !~ /^upcr_((my)?threads?\(\)|hasMyAffinity_p?shared\([A-Za-z0-9_]*\))$/) return
    test = test s ", "
  }
  after = closing(first + 2) + 1; s = substr(text, first + 3, after - first - 4)
  t = s; sub(/ [!=]= [A-Za-z0-9_]+$/, "", t); i = s; sub(/.* [!=]= /, "", i)
  if ((is_of_places = s == t " != 0")) {
    if (assigned[t] !~ /^upcr_has/) return
    if (!is_place(substr(assigned[t], index(assigned[t], "(")))) return
  } else if (s != t " == " i || assigned[i] != "upcr_mythread()") return
  else if (t ~ /^_I[48]MOD\(/) {
    number_type = t ~ /^_I4/ ? "UPCRI_WALK_INT32" : ""
    if (arguments(substr(t, 8, length(t) - 8)) != 2 || assigned[argument[2]] != "upcr_threads()" || !is_number("(" argument[1] ")")) return
  } else if (!in_brackets(t) || !match(t, / % [A-Za-z0-9_]+\)$/) || assigned[substr(t, RSTART + 3, RLENGTH - 4)] != "upcr_threads()" ||
      !is_number(substr(t, 2, RSTART - 2))) return
  count = split(names, name, " ")
  for (i = 1; i <= count; i++) if (name[i] in assigned) return
  # The last statement is the step.
  to = closing(opens)
  t = substr(text, after, to - after)
  if (!match(t, "[;:{}]([ \t\n]|#[^\n]*\n)*" v " = " v " \\+ 1[UL]*;([ \t\n]|#[^\n]*\n)*$")) return
  before = text
  s = substr(t, RSTART + 1); sub(v " = " v " \\+ 1[UL]*", "\001", s)
  to = after + RSTART
  text = substr(text, 1, to - 1) s substr(text, after + length(t))
  if (walk(lo, sign, end, "(" test substr(before, first + 3, after - first - 4) ")", after, to) == "") { text = before; return }
  sub("\001", step, text)
  text = substr(text, 1, head - 1) around "for (upcri_walk_t " start "; " condition "; )" substr(text, closes + 1, first - closes - 1) "if(1)" substr(text, after)
}
BEGIN {
  RS = "\001"; ORS = ""
  access = "UPCR_(GET_P?SHARED *\\( *(\\([A-Za-z0-9_ ]+\\*+ *\\) *)?&?[A-Za-z0-9_]+(\\[[A-Za-z0-9_]+\\])? *, *|" \
    "(GET_P?SHARED_(FLOAT|DOUBLE)?VAL|PUT_P?SHARED(_(FLOAT|DOUBLE)?VAL)?) *\\( *)$"
  add = "^(UPCR_ADD_P?SHARED[1I]?|upcr_add_p?shared[1I]?) *\\("
}
{ text = $0 }
END {
  for (p = 1; match(substr(text, p), /forall_control[ )]* = 1;/); ) {
    p = skip(p + RSTART + RLENGTH - 1)
    if (substr(text, p, 5) == "for (") with_for(p)
    else with_while(p)
  }
  for (p = 1; match(substr(text, p), /(for \(|\n *)[A-Za-z_][A-Za-z0-9_ ]* = [( ]*(\(int\) *)?(MYTHREAD|upcr_mythread *\( *\))[ )]*;/); ) {
    in_turns(p = skip(p + RSTART - 1))
    p += 4
  }
  print text
}
