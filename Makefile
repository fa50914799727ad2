# Set-up, tests, figures. Every target makes what it needs; `make` alone lists them.
#
#   PYTHON=python3.12   the Python that makes the environment (default python3)
#   VENV=path           the environment (default .venv, made if missing)
#   ARGS="..."          passed on to the demo, to pytest or to the benchmarks
#   GPU_PYTHON=python3  for the targets on a GPU: a Python that has all they need (tools/verify_gpu.sh),
#                       CuPy for CUDA 13, say; default: $(VENV), with the `cuda` and `test` extras
#   OPTIONS="..."       for Meson, of `make build`: OPTIONS=-Dbuildtype=debug
#   MINUTES=3           for how long `make fuzz`, `make fuzz-coverage` and `make soak` try programs
#   SUITE=path          a checkout of data-apis/array-api-tests (with its submodule), dask/dask or spcl/npbench

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
OPTIONS ?=
SUITE ?=
MINUTES ?= 3
GPU_PYTHON ?=

# Tests start some hundred processes; without files of bytecode each compiles the package anew, 0.15 s.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
.PHONY: help build profile demo test quick fuzz fuzz-coverage test-sim conformance bench bench-calls bench-programs bench-distributed bench-dask npbench docs dask-tests sanitize faults soak lint format clean
.PHONY: test-gpu bench-gpu verify-gpu .gpu-python
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SECONDARY:

help:
	@echo 'make build     compile what changed, in place (every other target does that first)'
	@echo 'make profile   measure what runs often, by which this compiler then compiles (tools/profiles)'
	@echo 'make demo      install into $(VENV) and train the digits example'
	@echo 'make test      install into $(VENV), check style and types, run the tests'
	@echo 'make quick     run the tests that find most'
	@echo 'make fuzz MINUTES=3'
	@echo '               run random programs against NumPy, under every engine; each run tries others'
	@echo 'make fuzz-coverage MINUTES=20'
	@echo '               tell which branches of the core these programs take (gcov)'
	@echo 'make conformance SUITE=path/to/array-api-tests'
	@echo '               run the array API standard'"'"'s own tests'
	@echo 'make dask-tests SUITE=path/to/dask'
	@echo '               run Dask'"'"'s own array tests on blocks of lazyarray'"'"'s'
	@echo 'make npbench SUITE=path/to/npbench'
	@echo '               run NPBench'"'"'s kernels on NumPy and on lazyarray'
	@echo 'make bench     install into $(VENV) and print the table of speeds'
	@echo 'make bench-calls, bench-programs'
	@echo '               time every public function at six sizes, and ordinary programs, against NumPy'
	@echo 'make bench-distributed RANKS=2'
	@echo '               time collectives against plain mpi4py, and how much of a step they are hidden behind'
	@echo 'make bench-dask'
	@echo '               time Dask'"'"'s arrays with blocks of lazyarray'"'"'s against blocks of NumPy'"'"'s'
	@echo 'make test-sim  run a quick selection of the tests on a simulated CUDA device'
	@echo 'make test-gpu, bench-gpu, verify-gpu'
	@echo '               on a GPU: the tests; the table of speeds; these, and the stress program under'
	@echo '               compute-sanitizer. Without one they say so. GPU_PYTHON=python3: no environment made'
	@echo 'make docs      write the documentation, build/docs/index.html'
	@echo 'make sanitize  stress the native core, and run tests, under the sanitizers'
	@echo 'make faults    what docs/reliability.md promises, thoroughly: failing allocations, interrupts,'
	@echo '               forks, killed writers, corrupted files; counts are printed (an hour)'
	@echo 'make soak MINUTES=20'
	@echo '               run everything at once, from threads that share arrays, and look for what is left'
	@echo 'make lint      check style and types'
	@echo 'make format    put every Python file in the project'"'"'s format'
	@echo 'make clean     remove what builds and runs left (the environment stays)'

demo: $(VENV)/.installed-examples
	$(BIN)/python examples/train_digits.py $(ARGS)

test: lint
	$(BIN)/python tools/test_all.py $(ARGS)

# All of what decides a number, by files that take seconds: who runs when, what is fused, the rows, NumPy's
# programs, captured ones, gradients; then random programs. 7,100 tests in 75 s of processor time; those of
# processes, forks, memory and random programs of gradients take as long again, and are left to `make test`.
QUICK := tests/test_layers.py tests/test_project.py tests/test_wheel.py tests/programs tests/test_programs.py tests/lazy tests/ndarray \
	tests/engine/test_ordering.py tests/engine/test_waits.py tests/engine/test_errors.py tests/engine/test_deletion.py \
	tests/ops tests/functions tests/test_compile.py tests/test_compile_edges.py tests/test_compile_state.py \
	tests/autograd/test_tape.py tests/autograd/test_elementwise.py tests/autograd/test_calls.py \
	tests/graph/test_executor.py tests/test_random.py tests/test_fuzz.py \
	--ignore=tests/ndarray/test_random_programs.py
quick: $(VENV)/.installed-test
	$(BIN)/pytest -q $(QUICK) $(ARGS)
	$(BIN)/python tools/fuzz.py --minutes 0.5

fuzz: $(VENV)/.installed-test
	$(BIN)/python tools/fuzz.py --minutes $(MINUTES) $(ARGS)

fuzz-coverage: $(VENV)/.installed-test
	$(BIN)/python tools/fuzz_coverage.py --minutes $(MINUTES) $(ARGS)

# The same tests as on a GPU, a few of them: kernels are compiled by g++, a second each.
test-sim: $(VENV)/.installed-test
	PYTHONPATH=. $(BIN)/python -m tests.cuda.sim -q --device gpu:0 $(or $(ARGS),tests/cuda \
		tests/ndarray tests/test_programs.py)

EXTRAS ?= test,cuda
USED_ON_GPU = $(or $(GPU_PYTHON),$(BIN)/python)
test-gpu: PARTS := test
bench-gpu: PARTS := bench
bench-gpu: EXTRAS := cuda
verify-gpu: PARTS := test sanitize bench
# What is missing is told before anything is installed.
test-gpu bench-gpu verify-gpu:
	@! $(PYTHON) tools/gpu_here.py || { \
		$(MAKE) --no-print-directory .gpu-python EXTRAS=$(EXTRAS) && \
		sh tools/verify_gpu.sh $(USED_ON_GPU) $(if $(GPU_PYTHON),build) $(PARTS); }

.gpu-python: $(if $(GPU_PYTHON),,$(VENV)/.installed-$(EXTRAS))

# The failures that are meant are listed, with their reasons, in tests/conformance/xfails.txt.
conformance: $(VENV)/.installed-conformance
	@test -d '$(SUITE)/array_api_tests' || { echo 'make conformance needs a checkout of \
	https://github.com/data-apis/array-api-tests with its submodule: SUITE=path'; exit 1; }
	cd '$(SUITE)' && ARRAY_API_TESTS_MODULE=lazyarray ARRAY_API_TESTS_VERSION=2025.12 \
		'$(abspath $(BIN))/python' -m pytest array_api_tests -q -p no:cacheprovider \
		--disable-warnings --disable-deadline --max-examples=100 \
		--xfails-file='$(abspath tests/conformance/xfails.txt)' $(ARGS)

# Failures are listed, with their reasons, in tests/dask/xfails.txt.
dask-tests: $(VENV)/.installed-test,dask-tests
	@test -d '$(SUITE)/dask/array/tests' || { echo 'make dask-tests needs a checkout of \
	https://github.com/dask/dask: SUITE=path'; exit 1; }
	$(BIN)/python -m tests.dask.suite '$(SUITE)' $(ARGS)

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.run $(ARGS)

bench-calls: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.calls $(ARGS)

bench-programs: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.programs $(ARGS)

RANKS ?= 2
bench-distributed: $(VENV)/.installed-mpi
	$(BIN)/python -m benchmarks.distributed --ranks $(RANKS) $(ARGS)
bench-dask: $(VENV)/.installed-dask,jit
	$(BIN)/python -m benchmarks.dask_blocks $(ARGS)

npbench: $(VENV)/.installed-bench
	@test -d '$(SUITE)/bench_info' || { echo 'make npbench needs a checkout of \
	https://github.com/spcl/npbench: SUITE=path'; exit 1; }
	$(BIN)/python -m benchmarks.npbench '$(SUITE)' $(ARGS)

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -q -W --keep-going -d build/doctrees docs build/docs
	@echo 'file://$(CURDIR)/build/docs/index.html'

sanitize: $(VENV)/.installed-test
	sh tests/native/sanitize.sh thread
	sh tests/native/sanitize.sh address,undefined
	sh tests/native/sanitize_python.sh $(BIN)/python
	SANITIZE=thread sh tests/native/sanitize_python.sh $(BIN)/python

# The long versions of tests/faults.
faults: $(VENV)/.installed-test
	LAZYARRAY_TEST_FAULTS=1 $(BIN)/pytest -q -s tests/faults $(ARGS)

soak: $(VENV)/.installed-test
	$(BIN)/python -m tests.faults.soak --minutes $(MINUTES) $(ARGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/layers.py
	$(BIN)/mypy

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	find lazyarray \( -name '*.so' -o -name '*.dylib' \) -exec rm -f {} +
	find lazyarray tests examples benchmarks -type d -name __pycache__ -exec rm -rf {} + 2>/dev/null || true
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/pyvenv.cfg:
	@sh tools/check_build.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)

# What pyproject.toml asks of a build, so that builds need no environment of their own.
$(VENV)/.for-builds: $(VENV)/pyvenv.cfg pyproject.toml
	@sh tools/check_build.sh $(BIN)/python
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $@.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $@.txt
	@touch $@

# Meson compiles what changed, and what is compiled has a link beside its sources: whatever imports
# lazyarray, from whichever directory, gets the package of this checkout.
build: $(VENV)/.for-builds
	@$(BIN)/python tools/in_place.py $(OPTIONS)

profile: $(VENV)/.installed-test
	$(BIN)/python tools/native_profile.py make

# An editable install: Python's own files are used as they are.
$(VENV)/.installed-%: pyproject.toml | build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e '.[$*]'
	@touch $@
