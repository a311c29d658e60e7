# heed. Lines that begin with ## are what `make help` prints.
VERSION  := 0.1.0
SOVERSION := 0
CC       ?= gcc
PREFIX   ?= /usr/local
LIBDIR   ?= $(PREFIX)/lib
MANDIR   ?= $(PREFIX)/share/man
BASHDIR  ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR   ?= $(PREFIX)/share/zsh/site-functions
DESTDIR  ?=
STB_DIR  ?=
# A TrueType font for the letters of pictures, if not DejaVu Sans where systems have it.
FONT     ?=
# A line for each file; V=1 shows the commands, make -s nothing.
SILENT   := $(findstring s,$(filter-out -%,$(firstword $(MAKEFLAGS))))
say       = $(if $(V),,@$(if $(SILENT),,echo '  $(1)';))
CPUS     := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(CPUS)
endif
MAKEFLAGS += --no-builtin-rules --no-print-directory

# What differs by system: names and flags of shared libraries, OpenMP, and a folder of packages that compilers do not search.
SYSTEM   := $(shell uname -s)
SO       := .so.$(SOVERSION)
SO_LINK  := .so
PACKAGES_Darwin  = $(shell brew --prefix 2>/dev/null)
PACKAGES_FreeBSD = /usr/local
PACKAGES_OpenBSD = /usr/local
PACKAGES_NetBSD  = /usr/pkg
PACKAGES := $(PACKAGES_$(SYSTEM))
OPENMP   := -fopenmp
OPENMP_LINK = $(OMP)
ifeq ($(SYSTEM),Darwin)
SO       := .$(SOVERSION).dylib
SO_LINK  := .dylib
# Apple's clang compiles OpenMP but lacks its library, which Homebrew has.
LIBOMP   := $(shell brew --prefix libomp 2>/dev/null)
OPENMP   := $(if $(LIBOMP),-Xpreprocessor -fopenmp -I$(LIBOMP)/include)
OPENMP_LINK = $(if $(OMP),-L$(LIBOMP)/lib -lomp)
endif

# A variant is a folder under build/ with flags of its own.
MPI      ?=
VARIANT  ?= $(if $(MPI),mpi,release)
OPT_release := -O2
OPT_f64     := -O2 -DHEED_F64
OPT_asan    := -O1 -g -fsanitize=address -fno-omit-frame-pointer
OPT_ubsan   := -O1 -g -fsanitize=undefined,float-cast-overflow -fno-sanitize-recover=all
OPT_tsan    := -O1 -g -fsanitize=thread
OPT_fuzz    := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
OPT_serial  := -O2 -g1
OPT_debug   := -O0 -g
OPT_mpi     := $(OPT_release) -DHEED_MPI
OPT      := $(OPT_$(VARIANT))
OMP      := $(if $(filter serial fuzz,$(VARIANT)),,$(OPENMP))
# A shared library stays in memory after dlclose: OpenMP's threads, which wait for more work, would go on in code that is gone.
ifeq ($(SYSTEM),Darwin)
SHARED = -dynamiclib -install_name $(LIBDIR)/$(@F) -current_version $(VERSION) -Wl,-exported_symbol,_heed_*
else
SHARED = -shared -Wl,-soname,$(@F),-Bsymbolic-functions,-z,nodelete,--version-script=$(B)/heed.map
endif

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wcast-qual -Wno-missing-field-initializers
ifdef WERROR
WARN += -Werror
endif
CPPFLAGS_ALL = -Iinclude -Isrc $(ROOM_INCLUDES) $(STB_DIR:%=-I%) $(PACKAGES:%=-isystem %/include) $(CPPFLAGS)
# -ffp-contract=off everywhere but in the SIMD kernels: gcc's -std=c11 implies it silently, clang leaves contraction on.
# -fno-math-errno: sqrt is an instruction, not a call; nothing reads errno after a function of math.h.
CFLAGS_ALL   = -std=c11 $(OPT) $(SIZE) $(OMP) $(WARN) -ffp-contract=off -fno-math-errno -fPIC -fvisibility=hidden -MMD -MP $(CFLAGS)
LIBS         = -ljansson -lutf8proc -lz -lm -lpthread $(MPI_LIBS)
LDFLAGS_ALL  = $(OPT) $(OPENMP_LINK) $(PACKAGES:%=-L%/lib) $(PACKAGES:%=-Wl,-rpath,%/lib) $(LDFLAGS)

## make MPI=1       training on several machines by mpirun (docs/training.md)
ifeq ($(VARIANT),mpi)
MPICC ?= mpicc
MPI_CFLAGS := $(shell $(MPICC) --showme:compile 2>/dev/null || $(MPICC) -compile-info 2>/dev/null | tr ' ' '\n' | grep '^-[ID]')
MPI_LIBS   := $(shell $(MPICC) --showme:link 2>/dev/null || $(MPICC) -link-info 2>/dev/null | tr ' ' '\n' | grep -e '^-[lL]' -e '^-Wl')
$(if $(MPI_LIBS),,$(error MPI=1 needs $(MPICC); hint: apt-get install libopenmpi-dev openmpi-bin))
endif

MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
ISAS := generic $(if $(findstring x86_64,$(MACHINE)),avx2 avx512) $(if $(findstring aarch64,$(MACHINE)),neon)
FLAGS_generic := -DHEED_ISA=generic -ffp-contract=off
FLAGS_avx2    := -DHEED_ISA=avx2 -mavx2 -mfma -ffp-contract=fast
# Tuned for Intel, loops of products keep the order of their source; gcc's default order costs 2 % of their time.
FLAGS_avx512  := -DHEED_ISA=avx512 -mtune=skylake-avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mprefer-vector-width=512 -ffp-contract=fast
FLAGS_neon    := -DHEED_ISA=neon -ffp-contract=fast

B := build/$(VARIANT)
KERNELS := $(filter-out src/kernels/dispatch.c src/kernels/profile.c,$(wildcard src/kernels/*.c))
MODEL_OBJ   := $(patsubst %.c,$(B)/%.o,$(wildcard models/*.c models/*/*.c))
LIB_OBJ     := $(patsubst %.c,$(B)/%.o,$(filter-out $(KERNELS),$(wildcard src/*/*.c src/*/*/*.c))) $(foreach i,$(ISAS),$(KERNELS:%.c=$(B)/%.$(i).o)) \
    $(addprefix $(B)/,tables.o page_source.o letters.o models.one.o)
PROGRAM_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out $(if $(MPI_LIBS),,train/cli/mpi.c),$(wildcard train/*/*.c train/*/*/*.c)))
TEST_OBJ    := $(patsubst %.c,$(B)/%.o,$(wildcard tests/*.c $(patsubst src/%,tests/%/*.c,$(wildcard src/*)) tests/models/*.c tests/train/*.c))
# heed is phony: it becomes the program of the variant that was asked for, even if another variant's is newer.
.PHONY: all heed lib program test-program man deps demo test bench wheel parity fuzz f64 asan ubsan tsan serial debug install uninstall clean help
## make             the program ./heed and the libraries it uses
all: heed
heed: $(B)/heed
	@ln -sf $< $@

program: $(B)/heed
test-program: $(B)/heed-test

LIBRARIES := heed heed-program
lib: $(LIBRARIES:%=$(B)/lib%.a) $(LIBRARIES:%=$(B)/lib%$(SO)) python/heed/_c.py
# The Python package's declarations of the headers, where there is a python3.
python/heed/_c.py: python/declare.py $(wildcard include/heed/*.h) train/cli/synonyms.c
	@! command -v python3 >/dev/null || CC="$(CC)" python3 $<

$(B)/heed: $(B)/train/main.o $(B)/libheed-program.a $(B)/libheed.a
$(B)/heed-test: $(TEST_OBJ) $(PROGRAM_OBJ) $(B)/libheed.a
$(B)/heed $(B)/heed-test:
	$(call say,LD $@)$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIBS)
$(B)/libheed.a: $(LIB_OBJ)
$(B)/libheed-program.a: $(B)/program.one.o
$(B)/%.a:
	@rm -f $@
	$(call say,AR $@)ar qcs $@ $^
# Objects as one, whose names between its files are hidden: only what a public header declares can meet the names of a user's program.
$(B)/models.one.o: $(MODEL_OBJ)
$(B)/program.one.o: $(PROGRAM_OBJ)
# Apple's linker hides them by itself.
$(B)/%.one.o:
	$(call say,LD $@)$(CC) -nostdlib -r -o $@ $^ $(if $(filter Darwin,$(SYSTEM)),,&& objcopy --localize-hidden $@)

$(B)/libheed$(SO): $(LIB_OBJ)
$(B)/libheed-program$(SO): $(PROGRAM_OBJ) $(B)/libheed$(SO)
$(LIBRARIES:%=$(B)/lib%$(SO)): $(B)/heed.map
$(B)/%$(SO):
	$(call say,LD $@)$(CC) $(SHARED) -o $@ $(filter-out %.map,$^) $(LDFLAGS_ALL) $(LIBS)
# Symbols bear the version of the interface; heed__ is shared between the files of the library alone.
$(B)/heed.map: Makefile
	@mkdir -p $(@D) && echo 'HEED_$(basename $(VERSION)) { global: heed_[a-z]*; local: *; };' >$@
## make man         the man pages, in build/release/man
man: $(B)/man/heed.1
$(B)/man/heed.1: $(B)/heed
	@rm -rf $(@D) && mkdir -p $(@D)
	$(call say,MAN $(@D))$< help --man >$@.new && sed -n 's/^\.BR heed\\-\(.*\) (1)/\1/p' $@.new | sed 's/\\-/ /g' | \
	    while read -r command; do $< help --man $$command >"$(@D)/heed-$$(echo $$command | tr ' ' -).1" || exit 1; done && mv $@.new $@

# The tables of ops, layers and optimizers have what the files of their rooms define: `const TYPE NAME = ...`, or NAME[] for several.
$(B)/tables.c: src/ops src/nn src/optim $(wildcard src/ops/*.c src/nn/*.c src/optim/*.c) Makefile
	@mkdir -p $(@D) && { printf '#include %s\n' '<heed/op.h>' '<heed/nn.h>' '"optim/optim.h"' && export LC_ALL=C && \
	  grep -hE '^const heed_(op|layer_case|optimizer) heed_' src/ops/*.c src/nn/*.c src/optim/*.c | awk '{ print "extern const " $$2 " " $$3 ";"; \
	    many = sub(/\[]/, "", $$3); rows[$$2] = rows[$$2] (many ? "" : "&") $$3 ", "; if ($$2 == "heed_optimizer") names = names "|" substr($$3, 6) } \
	    END { for (type in rows) { get = type; sub(/_case/, "", get); print "static const " type " *const " get "_rows[] = {" rows[type] "NULL};"; \
	      print "const " type " *const *" get "_table(void) { return " get "_rows; }" } \
	    print "const char heed__optimizer_names[] = \"" substr(names, 2) "\";" }'; } >$@
# The page's readable sources in parts: the frame with the style sheets (page.css first) up to the data, the scripts
# (core.js first, each in an element of its own), those of the worked examples, the rest of the frame. All are deflated together into one array of
# bytes: what gzip writes, less its header of 10.
PAGE := src/view/page
PAGE_STEPS := $(sort $(wildcard $(PAGE)/steps*.js))
PAGE_JS := $(PAGE)/core.js $(filter-out %/core.js $(PAGE_STEPS),$(sort $(wildcard $(PAGE)/*.js)))
PAGE_CSS := $(PAGE)/page.css $(filter-out %/page.css,$(sort $(wildcard $(PAGE)/*.css)))
PAGE_PARTS := $(addprefix $(B)/page/,begin js steps end)
$(B)/page_source.c: $(PAGE)/page.html $(PAGE_CSS) $(PAGE_JS) $(PAGE_STEPS) Makefile
	@mkdir -p $(B)/page
	@scripts() { for f; do echo '<script>'; cat $$f; echo '</script>'; done; }; \
	 { sed '/<!--style-->/,$$d' $(PAGE)/page.html; cat $(PAGE_CSS); \
	   sed '1,/<!--style-->/d; /<!--data-->/,$$d' $(PAGE)/page.html; } > $(B)/page/begin; \
	 sed '1,/<!--data-->/d' $(PAGE)/page.html > $(B)/page/end; scripts $(PAGE_JS) > $(B)/page/js; \
	 scripts $(PAGE_STEPS) > $(B)/page/steps; \
	 { echo '#include "view/page.h"'; echo 'const unsigned char heed__page_packed[] = {'; \
	   cat $(PAGE_PARTS) | gzip -9n | tail -c +11 | od -An -v -tu1 | sed 's/[0-9][0-9]*/&,/g'; \
	   echo '}; const size_t heed__page_packed_size = sizeof heed__page_packed;'; \
	   echo 'const size_t heed__page_sizes[HEED__PAGE_PARTS] = {'; wc -c $(PAGE_PARTS) | sed -n '$$!s/^ *\([0-9]*\) .*/\1,/p'; \
	   echo '};'; } > $@
# The letters are drawn by a program of the build.
$(B)/letters.c: .ci/letters.c Makefile | .deps-checked
	@mkdir -p $(@D)
	$(call say,DRAW letters)$(CC) -O1 $(STB_DIR:%=-I%) -o $(B)/letters $< -lm && $(B)/letters "$$($(DEPS) --font)" > $@.new && mv $@.new $@
$(B)/%.o: $(B)/%.c
	$(call say,CC $<)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -c -o $@ $<
$(B)/%.o: %.c | .deps-checked
	@mkdir -p $(@D)
	$(call say,CC $<)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -c -o $@ $<
# stb_image computes with integers that wrap around; behind the end of a damaged JPEG scan it shifts a zero by more than
# 31 (stbi__grow_buffer_unsafe), which is zero on every machine.
$(B)/src/data/image/decode.o: CFLAGS_ALL += -fwrapv -fno-sanitize=shift-exponent
ifneq ($(filter release mpi,$(VARIANT)),)
# Compares pictures byte by byte.
$(B)/src/data/image/mirror.o: SIZE := -O3
# What the vectors do is written out, so that more than -O2 adds mainly size.
$(foreach k,$(KERNELS),$(foreach i,avx2 avx512,$(B)/$(k:.c=.$(i).o))): SIZE := -fno-tree-vectorize
# The program only talks, and -Og compiles in little more than half of the time.
$(B)/train/%.o: SIZE := -Og
endif
# Rooms in which the gradient check spends no time.
ifeq ($(VARIANT),f64)
$(foreach room,$(filter-out core kernels ops nn optim,$(notdir $(wildcard src/*))),$(B)/src/$(room)/%.o) $(B)/models/%.o: SIZE := -O1
$(B)/train/%.o: SIZE := -O0
endif
$(B)/train/cli/mpi.o: CPPFLAGS_ALL += $(MPI_CFLAGS)
# The rooms of the program and the tests find each other, too.
$(B)/train/%.o $(B)/tests/%.o: ROOM_INCLUDES := -Itrain -I. -Itests
# Tests are compiled longer than they run; the variant without OpenMP is the one that warns of what only -O2 sees.
ifneq ($(VARIANT),serial)
$(B)/tests/%.o: SIZE := -O0
endif
# gcc's declarations of vector instructions are 2 MB. They are compiled once for each instruction set instead of once for each kernel; the objects are the
# same. Not with ccache, which does not cache what reads compiled headers.
PRECOMPILED := $(if $(findstring ccache,$(CC)),,$(shell $(CC) --version 2>/dev/null | grep -q 'Free Software Foundation' && echo .gch))
define ISA_RULE
$(B)/isa/$(1).h: | .deps-checked
	@mkdir -p $$(@D)
	@echo '#include "kernels/isa.h"' >$$@
$(B)/isa/$(1).h.gch: $(B)/isa/$(1).h
	$$(call say,CC $$<)$$(CC) $$(CPPFLAGS_ALL) $$(CFLAGS_ALL) $(FLAGS_$(1)) -x c-header -MF $(B)/isa/$(1).d -o $$@ $$<
$(B)/%.$(1).o: %.c $(B)/isa/$(1).h$(PRECOMPILED) | .deps-checked
	@mkdir -p $$(@D)
	$$(call say,CC $$< $(1))$$(CC) $$(CPPFLAGS_ALL) $$(CFLAGS_ALL) $(FLAGS_$(1)) -include $(B)/isa/$(1).h -c -o $$@ $$<
endef
$(foreach i,$(ISAS),$(eval $(call ISA_RULE,$(i))))

DEPS := CC="$(CC)" CPPFLAGS="$(PACKAGES:%=-I%/include) $(CPPFLAGS)" STB_DIR="$(STB_DIR)" FONT="$(FONT)" sh .ci/deps
# Headers and the font that are missing are named before anything is compiled; only `make deps` installs.
.deps-checked: .ci/deps
	@$(DEPS) --check && touch $@
## make deps        installs the system packages needed, or names them
deps:
	@$(DEPS) && echo "what heed needs is installed"

## make f64         the unit tests in double precision, with the exact gradient check
## make asan ubsan tsan   the unit tests under a sanitizer
## make serial      the same without OpenMP
## make debug       the same for a debugger
f64 asan ubsan serial debug:
	@$(MAKE) VARIANT=$@ program test-program
	@ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 build/$@/heed-test
# gcc's libgomp reports false races: clang with its own OpenMP runtime, of whose synchronisation Archer tells. Without tests of one thread that take half of the time.
TSAN_TESTS ?= -gradcheck_every -golden_ops -golden_layers -conditions_refuse_the_settings_of_models
ARCHER := $(lastword $(wildcard /usr/lib/llvm-*/lib/libarcher.so))
tsan:
	$(if $(ARCHER),,@echo "skip    tsan: no clang OpenMP runtime with Archer here"; echo "0 passed, 0 failed"; exit)
	@$(if $(ARCHER),$(MAKE) CC=clang VARIANT=tsan program test-program)
	@$(if $(ARCHER),OMP_TOOL_LIBRARIES=$(ARCHER) OMP_NUM_THREADS=2 TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 allocator_may_return_null=1" \
	    build/tsan/heed-test $(TSAN_TESTS))

## make test        all tests (4 minutes); ends with "N passed, N failed"
test:
	+@sh tests/all.sh
## make demo        trains two language models and a classifier of pictures, shows what they attend to (a minute)
demo: heed
	@sh data/demo.sh
## make bench       training speed of the benchmark workloads
bench: heed
	@./heed bench
## make wheel       the Python package as build/heed_attention-*.whl (docs/python.md)
wheel: $(B)/libheed.a python/heed/_c.py
	@rm -f build/heed_attention-*.whl
	@CC="$(CC)" python3 python/wheel.py $(B) build
## make parity      helpers for comparisons with PyTorch by hand (tests/parity/README.md)
parity: $(patsubst tests/parity/%.c,$(B)/parity-%,$(wildcard tests/parity/*.c))
$(B)/parity-%: $(B)/tests/parity/%.o $(PROGRAM_OBJ) $(B)/libheed.a
	$(call say,LD $@)$(CC) -o $@ $^ $(LDFLAGS_ALL) $(LIBS)

## make fuzz        a minute of fuzzing per reader (clang); tests/fuzz/NAME.dict has words to begin with
FUZZ := $(basename $(notdir $(wildcard tests/fuzz/*.c)))
FUZZ_SECONDS ?= 60
fuzz: $(FUZZ:%=fuzz-%)
fuzz-%: build/fuzz/fuzz-%
	@mkdir -p build/fuzz/corpus/$*
	cd build/fuzz && ./fuzz-$* -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 -verbosity=0 \
	    -print_final_stats=1 $(if $(wildcard tests/fuzz/$*.dict),-dict=../../tests/fuzz/$*.dict) corpus/$*
FUZZ_LIBRARIES := $(addprefix build/fuzz/,readers.a libheed.a)
build/fuzz/fuzz-%: tests/fuzz/%.c fuzz-lib
	clang -std=c11 -Iinclude -Isrc -Itrain $(OPT_fuzz) -fsanitize=fuzzer -o $@ $< $(FUZZ_LIBRARIES) $(LIBS)
fuzz-lib:
	@$(MAKE) VARIANT=fuzz CC=clang $(FUZZ_LIBRARIES)
build/fuzz/readers.a: $(filter-out $(B)/train/commands/%,$(PROGRAM_OBJ))
# Kernels read no input, and clang needs minutes for a tile with these checks.
build/fuzz/src/kernels/%.o: OPT := -O1

# The OpenMP runtime by its name: -fopenmp would bring another one where a program is linked by another compiler.
OMP_LIB := $(if $(OMP),$(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),$(LIBOMP:%=-L%/lib) -lomp,-lgomp))
# From LIBDIR up to PREFIX: "..", or "../.." if it is PREFIX/lib/MACHINE; nothing if it is elsewhere.
UP := $(shell echo '$(LIBDIR)' | sed -n 's|^$(PREFIX)/||p' | sed 's|[^/][^/]*|..|g')
TO = $(DESTDIR)$(LIBDIR)
FILL = sed -e 's|@VERSION@|$(VERSION)|; s|@MINOR@|$(basename $(VERSION))|; s|@SO@|$(SO)|; s|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|' \
    -e 's|@INCLUDE@|$(if $(UP),$${_heed_lib}/$(UP),$(PREFIX))/include|; s|@PACKAGES@|$(PACKAGES:%=-L%/lib)|; s|@OMP@|$(OMP_LIB)|'
## make install     to DESTDIR, PREFIX (/usr/local), LIBDIR (PREFIX/lib), MANDIR, BASHDIR, ZSHDIR: program, libraries,
##                  headers, files for pkg-config and CMake, man pages, completion
install: heed lib man
	@install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include/heed $(TO)/pkgconfig $(TO)/cmake/heed $(addprefix $(DESTDIR),$(MANDIR)/man1 $(BASHDIR) $(ZSHDIR))
	@install -m 755 $(B)/heed $(DESTDIR)$(PREFIX)/bin/heed
	@install -m 644 include/heed/*.h $(DESTDIR)$(PREFIX)/include/heed
	@install -m 644 $(B)/man/*.1 $(DESTDIR)$(MANDIR)/man1
	@$(B)/heed completion bash >$(DESTDIR)$(BASHDIR)/heed && $(B)/heed completion zsh >$(DESTDIR)$(ZSHDIR)/_heed
	@for l in $(LIBRARIES); do install -m 644 $(B)/lib$$l.a $(TO) && install -m 755 $(B)/lib$$l$(SO) $(TO) && ln -sf lib$$l$(SO) $(TO)/lib$$l$(SO_LINK) || exit 1; done
	@$(FILL) .ci/heed.pc.in >$(TO)/pkgconfig/heed.pc
	@sed -e 's/^\(Name.*\)/\1-program/; s/^Requires:/& heed/; s/-lheed/&-program/; /private/d' $(TO)/pkgconfig/heed.pc >$(TO)/pkgconfig/heed-program.pc
	@for f in heed-config heed-config-version; do $(FILL) .ci/$$f.cmake.in >$(TO)/cmake/heed/$$f.cmake; done
	@[ -n "$(DESTDIR)" ] || [ $(SYSTEM) != Linux ] || PATH="$$PATH:/sbin:/usr/sbin" ldconfig 2>/dev/null || true
	$(call say,heed $(VERSION) is in $(DESTDIR)$(PREFIX))
## make uninstall   removes them
uninstall:
	@rm -f $(DESTDIR)$(PREFIX)/bin/heed $(foreach l,$(LIBRARIES),$(TO)/pkgconfig/$(l).pc $(TO)/lib$(l).a $(TO)/lib$(l)$(SO_LINK) $(TO)/lib$(l)$(SO))
	@rm -f $(DESTDIR)$(BASHDIR)/heed $(DESTDIR)$(ZSHDIR)/_heed $(DESTDIR)$(MANDIR)/man1/heed.1 $(DESTDIR)$(MANDIR)/man1/heed-*.1
	@rm -rf $(DESTDIR)$(PREFIX)/include/heed $(TO)/cmake/heed

## make clean       removes what was built
clean:
	rm -rf build heed .deps-checked
## CC=clang, WERROR=1, CFLAGS=..., STB_DIR=FOLDER (stb_image.h elsewhere), FONT=FILE.ttf, V=1 (whole commands) may be given.
help:
	@sed -n 's/^## //p' Makefile

-include $(shell find $(B) -name '*.d' 2>/dev/null)
