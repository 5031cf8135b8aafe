# The everyday commands; whatever else there is, cmake --list-presets shows it.
PREFIX ?= /usr/local

build: # build/carom and both libraries, optimised
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target carom carom_static carom_cli

demo: # installs what is missing, builds, solves a first problem
	@tools/setup.sh build
	@$(MAKE) --no-print-directory build
	@tools/demo.sh build/carom

test: # installs what is missing, then every check there is; ends with "N passed, N failed"
	@tools/setup.sh test
	@tools/test.sh

experiments: build # the paper's experiments in full (hours), and experiments/REPORT.md; QUICK=1: minutes, into build/
	@tools/experiments.sh $(if $(QUICK),--quick)

benchmark: build # the figures of docs/benchmarks.md, all in one run (a quarter of an hour); QUICK=1: seconds, into build/
	@$(if $(QUICK),,tools/setup.sh compare || true)
	@cmake --build --preset release --target bench_factor bench_steps
	@python=$$(tools/venv.sh $(if $(QUICK),,mujoco)) && "$$python" bench/benchmark.py $(if $(QUICK),--quick)

docs: # the API reference, build/docs/html/index.html; needs doxygen
	@tools/doxygen.sh

viewer: # the page of carom view, viewer/dist/viewer.html; needs node and npm
	@command -v npm >/dev/null || { echo "viewer: needs node and npm (Debian: nodejs npm)" >&2; exit 1; }
	@cd viewer && { [ -d node_modules ] || npm ci --loglevel=error --no-audit --no-fund; } && npm run --silent build

install: build # honours PREFIX and DESTDIR
	@cmake --install build --prefix "$(PREFIX)"

format: # lays out every C file
	@find include src tests bench examples -name "*.[ch]" | xargs clang-format -i

clean:
	rm -rf build build-*

.PHONY: build demo test experiments benchmark docs viewer install format clean
