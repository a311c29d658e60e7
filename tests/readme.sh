#!/bin/sh
# Runs the blocks marked ```sh test of README.md, of docs/tour.md, which continues it, and of the other docs/*.md, in order, in
# one scratch folder that has ./heed and data/; and checks that links lead to files and headings and that every function named in
# docs/notes.md is in the file named beside it.
cd "$(dirname "$0")/.." || exit 1
root=$(pwd) passed=0 failed=0
export OMP_NUM_THREADS=1 # other tests run beside this one
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED: $1"; }
ln -s "$root/heed" "$dir/heed"
ln -s "$root/data" "$dir/data"
ln -s "$root/include" "$dir/include"
ln -s "$root/build" "$dir/build"
for page in README.md docs/tour.md $(ls docs/*.md | grep -v tour); do
    awk -v start="$dir/$(basename "$page" .md)" '/^```sh test/ {n++; file = sprintf("%s-block%02d", start, n); inside = 1; next} /^```/ {inside = 0} inside {print > file}' "$page"
    for block in "$dir/$(basename "$page" .md)"-block*; do
        [ -e "$block" ] || continue
        if (cd "$dir" && NO_COLOR=1 sh -e "$block" >"$dir/out" 2>&1 </dev/null); then ok; else cat "$block"; tail -20 "$dir/out"; bad "$(basename "$block") of $page"; fi
    done
done
[ "$passed" -gt 9 ] || bad "README.md and docs/ have few blocks marked sh test"
awk '/^```c$/ {inside = 1; next} /^```/ {inside = 0} inside' README.md | cmp -s - examples/xor.c && ok || bad "README.md and examples/xor.c differ"
for page in README.md docs/*.md; do
    for link in $(grep -oE '\]\([^):#]+' "$page" | cut -c3-); do
        [ -e "$(dirname "$page")/$link" ] && ok || bad "$page links to $link, which does not exist"
    done
    for link in $(grep -oE '\]\([^):]*#[^)]+' "$page" | cut -c3-); do
        [ "${link%%#*}" ] && to=$(dirname "$page")/${link%%#*} || to=$page
        sed -n 's/^##* //p' "$to" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g' | grep -qx "${link#*#}" && ok || bad "$page links to $link, which has no such heading"
    done
done
# `src/ops/attention.c: forward` means: that file defines or calls something of that name.
grep -oE '`[a-z]+/[a-z_/]+\.[ch]: [a-z_0-9]+`' docs/notes.md | tr -d '`' | sort -u >"$dir/names"
[ -s "$dir/names" ] || bad "docs/notes.md names no function"
while IFS=': ' read -r file name; do
    if [ -e "$file" ] && grep -qE "(^|[^a-z_0-9])$name\)?\(" "$file"; then ok; else bad "docs/notes.md: $file has no $name"; fi
done <"$dir/names"
# Every `heed COMMAND` of the notes is one; the worked examples among them run.
grep -oE '`heed [^`]+`' docs/notes.md | tr -d '`' | cut -d' ' -f2 | sort -u >"$dir/commands"
while read -r word; do
    if ./heed help "$word" >/dev/null 2>&1; then ok; else bad "docs/notes.md: no command heed $word"; fi
done <"$dir/commands"
grep -oE '`heed explain[^`]*`' docs/notes.md | tr -d '`' | grep -vE 'NAME|FILE|RUN' | sort -u >"$dir/examples"
while read -r _ arguments; do
    # shellcheck disable=SC2086
    if ./heed $arguments >/dev/null 2>"$dir/err" </dev/null; then ok; else bad "docs/notes.md: heed $arguments: $(cat "$dir/err")"; fi
done <"$dir/examples"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
