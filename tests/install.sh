#!/bin/sh
# `make install` to a folder of its own; then each example as C and as C++, by gcc and clang, shared and static, with
# the flags of pkg-config and with CMake, without a warning, and run.
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
result() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi; }
machine=$(${CC:-gcc} -print-multiarch 2>/dev/null)
prefix=/opt/heed lib=/opt/heed/lib${machine:+/$machine}
settings="DESTDIR=$dir PREFIX=$prefix LIBDIR=$lib"
${MAKE:-make} -s install $settings >/dev/null 2>&1
result $? "make install $settings"
[ -s "$dir$prefix/share/man/man1/heed-train.1" ] && [ -s "$dir$prefix/share/bash-completion/completions/heed" ] &&
    [ -s "$dir$prefix/share/zsh/site-functions/_heed" ]
result $? "man pages and completion are installed"
export OMP_NUM_THREADS=1 # spinning teams would crowd out whatever else the machine does
export PKG_CONFIG_PATH="$dir$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dir" LD_LIBRARY_PATH="$dir$lib"
mkdir "$dir/c" "$dir/c++" "$dir/static"
cp examples/*.c "$dir/c"
for f in examples/*.c; do cp "$f" "$dir/c++/$(basename "$f" .c).cpp"; done
cp "$dir$lib"/*.a "$dir/static"
cd "$dir" || exit 1
printf '%s\n' "Paris is the capital of France ." "Rome is the capital of Italy ." "Kenya lies in Africa ." >facts.txt
"$dir$prefix/bin/heed" train gpt facts.txt -o gpt --tokenizer word --layers 1 --width 32 --heads 2 --block 8 \
    --packing lines --batch 8 --steps 20 --val-split 0 >out 2>&1
result $? "the installed program trains a run"
arguments() {
    case $1 in
    own_loop) echo facts.txt ;;
    train_text) echo facts.txt trained Paris ;;
    embedded | inspect) echo gpt Paris ;;
    own_model) echo graph attentive ;;
    esac
}
# uses FILE: the packages that the line which builds it names
uses() { sed -n 's|^ \* *cc .*--libs \([a-z -]*\)).*|\1|p' "$1"; }
# runs PROGRAM NAME: with its arguments; what it prints is the same whatever built it
runs() {
    # shellcheck disable=SC2046
    "$1" $(arguments "$2") >out 2>err
    status=$?
    [ -f "$2.out" ] || cp out "$2.out"
    [ $status = 0 ] && cmp out "$2.out" || { cat err; false; }
    result $? "$1"
}
built() { result "$1" "$2"; [ "$1" = 0 ] || cat out; return "$1"; }
strict="-Wall -Wextra -Wpedantic -Werror -O1"
# by COMPILER FOLDER FLAGS: all examples of the folder with the flags of pkg-config
by() {
    command -v "$1" >/dev/null 2>&1 || { echo "skip: no $1"; return; }
    for f in "$2"/*; do
        name=$(basename "${f%.*}")
        "$1" $strict $3 -c -o object.o "$f" $(pkg-config --cflags $(uses "$f")) >out 2>&1
        built $? "$1 $f" || continue
        "$1" -o program object.o $(pkg-config --libs $(uses "$f")) >out 2>&1
        built $? "$1 $f, shared" && runs ./program "$name"
        "$1" -o program object.o -Lstatic -lm $(pkg-config --static --libs $(uses "$f") | tr ' ' '\n' | grep -v "^-L$dir") >out 2>&1 &&
            ! ldd program | grep -q libheed
        built $? "$1 $f, static" && runs ./program "$name"
    done
}
if command -v pkg-config >/dev/null 2>&1; then
    by gcc c -std=c11
    by clang c -std=c11
    by g++ c++ "-std=c++20 -Wno-missing-field-initializers"
    by clang++ c++ "-std=c++20 -Wno-missing-field-initializers"
else
    echo "skip: no pkg-config"
fi
{
    cat <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(examples C CXX)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
find_package(heed 0.1 REQUIRED COMPONENTS program)
find_package(heed 0.1 QUIET COMPONENTS nothing)
if(heed_FOUND)
  message(FATAL_ERROR "a component that does not exist was found")
endif()
function(example name file)
  add_library(${name}-object OBJECT ${file})
  target_link_libraries(${name}-object PRIVATE heed::heed)
  target_compile_options(${name}-object PRIVATE -Wall -Wextra -Wpedantic -Werror $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>)
  foreach(kind IN ITEMS "" -static)
    add_executable(${name}${kind} $<TARGET_OBJECTS:${name}-object>)
    foreach(library IN LISTS ARGN)
      target_link_libraries(${name}${kind} PRIVATE heed::${library}${kind})
    endforeach()
    set_target_properties(${name}${kind} PROPERTIES LINKER_LANGUAGE C)
  endforeach()
endfunction()
CMAKE
    for f in c/* c++/*; do
        echo "example($(basename "${f%.*}")-${f%%/*} $f $(uses "$f" | sed 's/heed-//g'))"
    done
} | sed 's/-c++ /-cxx /' >CMakeLists.txt
# cmake_by CC CXX: the same with CMake
cmake_by() {
    command -v cmake >/dev/null 2>&1 && command -v "$1" >/dev/null 2>&1 && command -v "$2" >/dev/null 2>&1 ||
        { echo "skip: no cmake, or no $1 or $2"; return; }
    CC=$1 CXX=$2 cmake -S . -B "cmake-$1" -DCMAKE_PREFIX_PATH="$dir$prefix" -DCMAKE_BUILD_TYPE=Release >out 2>&1 &&
        cmake --build "cmake-$1" -j 2 >>out 2>&1
    built $? "cmake, $1 and $2" || return
    for program in "cmake-$1"/*-c "cmake-$1"/*-cxx "cmake-$1"/*-static; do
        name=$(basename "$program" -static)
        runs "$program" "${name%-*}"
    done
    ldd "cmake-$1"/*-static | grep libheed
    [ $? = 1 ]
    result $? "cmake, $1: the static programs link no shared libheed"
}
cmake_by gcc g++
cmake_by clang clang++
cd "$OLDPWD" || exit 1
${MAKE:-make} -s uninstall $settings >/dev/null 2>&1 && [ -z "$(find "$dir$prefix" -type f -o -type l)" ]
result $? "make uninstall leaves nothing"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
