# Makes one C++ source of GoogleTests from the ```cpp blocks of a Markdown page: awk -v suite=NAME -f blocks.awk PAGE.md
#
# How to write a block:
#   ```cpp              a program: compiled and run. With `int main` it stands as it is, main beginning and ending in
#                       column 1. Without, <nax/nax.hpp>, <iostream> and `using namespace nax` are there already; types,
#                       templates and functions that begin in column 1 go to namespace scope, the rest into one function.
#   ```cpp continued    goes on where the block before left off, as if both were one (never after an `int main`).
#   ```cpp no-run       compiled, never run: it would wait, write files, or need a device.
#   ```cpp sketch       skipped: a piece of something larger. So is a block whose first line begins with `// sketch`.
#   ```text             next after such a block, blank lines aside: exactly what that block prints to std::cout.
#   With `-v plain=1` the page's first program is printed as one file to compile, without tests.
#   An exception that leaves a block fails the test, and the compiler's errors name the page's own lines.
#
# The source is gathered in pieces, since includes must come before the namespaces that wrap the programs: `includes`;
# then of each program its `scope` (declarations) and its `body` (statements, and checks of what they printed).
# A program without main is cut into chunks, from a line at column 1 to the end of its brackets: each goes to one of the two.

function count(text, pattern) { return gsub(pattern, "", text) }

# the line without strings, characters and comments, for counting brackets
function code_of(line) {
  gsub(/\\./, "", line)
  gsub(/"[^"]*"/, "\"\"", line)
  gsub(/'[^']'/, "0", line)
  sub(/\/\/.*/, "", line)
  sub(/[ \t]+$/, "", line)
  return line
}

function belongs_to_scope(first, last) {
  if (first ~ /^(struct|class|enum|union|template|using|namespace|inline|static|concept)[ <]/) return 1
  if (first ~ /^(if|for|while|switch|do|try|catch|else|return|[{}])/) return 0
  return last ~ /}$/ && first ~ /\(/  # a function's definition: it ends without a semicolon
}

function end_chunk() {
  if (chunk == "") return
  if (!plain) chunk = "#line " chunk_line " \"" FILENAME "\"\n" chunk
  if (belongs_to_scope(chunk_first, chunk_last)) scope = scope chunk; else body = body chunk
  chunk = ""
  depth = 0
}

function add_statements(line, number,   code) {
  code = code_of(line)
  if (chunk == "") {
    if (code == "") return
    chunk_first = code
    chunk_line = number
  }
  chunk = chunk line "\n"
  if (code == "") return
  chunk_last = code
  depth += count(code, "[[{(]") - count(code, "[]})]")
  if (depth == 0 && code ~ /[;}]$/) end_chunk()
}

# main becomes main_, which must end with a return as main need not
function add_program(line, number) {
  if (line ~ /^int main *\(/) {
    sub(/main/, "main_", line)
    in_main = line !~ /}$/
    if (!in_main) sub(/}$/, "return 0; }", line)
  } else if (in_main && line ~ /^}/) {
    line = "return 0; " line
    in_main = 0
  }
  scope = scope "#line " number " \"" FILENAME "\"\n" line "\n"
}

function end_program() {
  if (!program) return
  if (plain) {
    print "#include <nax/nax.hpp>\n#include <iostream>\n" includes "\nusing namespace nax;\n\n" scope "\nint main() {\n" body "}"
    done = 1
    exit
  }
  programs = programs "\nnamespace doc_" suite "_line_" program " {\n" (has_main ? "" : "using namespace nax;\n") scope \
             "\n[[maybe_unused]] void run() {\n" (has_main ? "EXPECT_EQ(main_(), 0);\n" : "") body "}\n\n}  // namespace\n"
  if (!no_run)
    programs = programs "TEST(" suite ", line_" program ") {\n  doc_test::Capture capture;\n  doc_" suite "_line_" program "::run();\n}\n"
  program = 0
  scope = body = ""
}

function add_block(   i) {
  if (info !~ /continued/) {
    end_program()
    program = block_line
    no_run = info ~ /no-run/
    has_main = 0
    for (i = 1; i <= lines; i++) has_main = has_main || block[i] ~ /^int main *\(/
  } else if (!program || has_main) {
    print FILENAME ":" block_line ": no block stands before this one that it could continue" > "/dev/stderr"
    exit failed = 1
  }
  for (i = 1; i <= lines; i++) {
    if (block[i] ~ /^#include/) includes = includes block[i] "\n"
    else if (has_main) add_program(block[i], block_line + i - 1)
    else add_statements(block[i], block_line + i - 1)
  }
  end_chunk()
}

function add_expected(   i) {
  if (plain) return
  body = body "doc_test::expect(\"" FILENAME "\", " block_line ", R\"nax("
  for (i = 1; i <= lines; i++) body = body block[i] "\n"
  body = body ")nax\");\n"
}

/^```/ && !inside {
  inside = 1
  info = substr($0, 4)
  block_line = FNR + 1
  lines = 0
  next
}
/^```/ {
  inside = 0
  if (info ~ /^cpp( |$)/ && info !~ /sketch/ && block[1] !~ /^\/\/ sketch/) {
    add_block()
    may_print = 1
    next
  }
  if (info ~ /^text( |$)/ && may_print) add_expected()
  may_print = 0
  next
}
inside { block[++lines] = $0; next }
/[^ \t]/ { may_print = 0 }

END {
  if (failed) exit 1
  if (done) exit
  end_program()
  print "#include <gtest/gtest.h>\n#include <nax/nax.hpp>\n#include <iostream>\n#include \"doc_test.hpp\"\n" includes programs
}
