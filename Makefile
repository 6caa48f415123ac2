# hedge: `make` runs the main job, `make test` runs every test and installs what it needs.

MODULES := $(shell cat allmodules)
# modules of systems in processes of this machine
LIVE := adapters/live examples/eagle examples/kairos examples/slearn
# modules whose tests run real clusters, the whole conformance suite and three storms of faults on each; without -short they build what is missing first
CLUSTERS := $(filter-out $(LIVE),$(filter adapters/% examples/%,$(MODULES)))
# modules whose tests mostly wait for a cluster: they run side by side
WAITING := adapters/nomad adapters/yarn
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.5.0
GO ?= go
# lp_solve's headers, which its binding looks for beside itself
export CGO_CFLAGS := -O2 -g -I/usr/include/lpsolve
# what hedge-full is built on, and what all the tests run on
LIBRARIES := gcc g++ libc6-dev pkg-config coinor-libcbc-dev coinor-libclp-dev liblpsolve55-dev
PACKAGES := $(LIBRARIES) coinor-cbc lp-solve glpk-utils python3-venv python3-pip default-jdk-headless maven prometheus
SERVERS := etcd kwok kube-apiserver kube-controller-manager kube-scheduler nomad yarn

.PHONY: demo demo-kubernetes demo-nomad demo-yarn hedge hedge-full libraries deps highs scip ortools servers test test-clusters shared-nomad storms race lint fmt vet apidiff tidy docs bench bench-solvers results clean

## demo: 3Sigma against its baselines on the built-in log, with a report in bin/report
demo: hedge
	./bin/hedge compare --report bin/report

## demo-kubernetes, demo-nomad, demo-yarn: one workload from a real log on a real cluster, under its own scheduler and under hedge (ten minutes, as root)
demo-kubernetes demo-nomad demo-yarn: deps
	cd examples/$(@:demo-%=%)-scheduler && $(GO) run ./demo

## hedge: bin/hedge, with every engine that needs no C compiler
hedge:
	CGO_ENABLED=0 $(GO) build -o bin/hedge ./cmd/hedge

## hedge-full: bin/hedge-full, with the engines that need a C compiler too; installs their libraries on Debian, as root
hedge-full: libraries
	@cd cmd/hedge/full && $(GO) build -o $(CURDIR)/bin/hedge-full . || { \
	echo 'hedge-full needs a C++ compiler and the headers of CBC, Clp and lp_solve; on Debian, as root: make libraries' >&2; exit 1; }

# install: those of the Debian packages that are missing; says what to do where it may not
install = missing=""; for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	test -z "$$missing" || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; } || \
	{ echo "$@: these packages are missing; as root: apt-get install$$missing" >&2; exit 1; }

## libraries, deps: the Debian packages that hedge-full is built on, and all that solvers and their tests need
libraries:
	@! command -v dpkg >/dev/null || { $(call install,$(LIBRARIES)); }
deps:
	@$(call install,$(PACKAGES))

## highs, scip, ortools: the solvers that come from PyPI, in the user's cache folder
highs:
	cd solver/milp/highs && $(GO) run ./install
	@./docs/highs-program.sh bin
scip:
	@./docs/scip-program.sh bin
ortools: hedge
	./bin/hedge solver prepare

## servers: the programs of real Kubernetes, Nomad and YARN clusters, in the user's cache folder (ten minutes the first time)
servers: deps
	cd adapters/testservers && $(GO) run ./cmd/servers $(SERVERS) ../yarn/am >/dev/null

# tests: a module's tests; exit 255 makes xargs stop
tests = echo "== test $(1)"; cd $(1) && HEDGE_REQUIRE_SOLVERS=1 HEDGE_REQUIRE_SERVERS=1 PATH=$(CURDIR)/bin:$$PATH $(GO) test $(2) -timeout 30m ./... || exit 255

## test: every test of every module, with every solver and on real clusters; what they need is installed
test: deps highs scip ortools servers
	@for m in $(filter-out $(CLUSTERS),$(MODULES)); do ($(call tests,$$m,)) || exit 1; done
	@for m in $(filter-out $(WAITING),$(CLUSTERS)); do ($(call tests,$$m,-short -p 1)) || exit 1; done
	@printf '%s\n' $(WAITING) | xargs -P 2 -I MODULE sh -c '$(call tests,MODULE,-short -p 1)'

## test-clusters: the tests of real Kubernetes, Nomad and YARN clusters alone, those of the demonstrations too; as root, half an hour
test-clusters: servers
	@for m in $(CLUSTERS); do echo "== test $$m"; (cd $$m && $(GO) test -p 1 -timeout 60m ./...) || exit 1; done

## shared-nomad: 540 tasks that share a node of Nomad, with four times the memory asked for that they use; as root
shared-nomad: servers
	cd adapters/nomad && $(GO) test -run TestSharedMachines -placements 540 -timeout 60m -v .

## storms: agents and schedulers of live systems, killed at random in 20 runs each
storms:
	cd adapters/live && $(GO) test -run Storms -storms 20 -timeout 30m .

## race: the same under the race detector, without the modules of clusters
race: deps highs scip ortools
	@for m in $(filter-out $(CLUSTERS),$(MODULES)); do echo "== race $$m"; (cd $$m && HEDGE_REQUIRE_SOLVERS=1 PATH=$(CURDIR)/bin:$$PATH $(GO) test -race -short -timeout 30m ./...) || exit 1; done

## fmt: gofmt, failing on a difference
fmt:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -d $$(git ls-files '*.go'); exit 1; }

vet:
	@for m in $(MODULES); do echo "== vet $$m"; (cd $$m && $(GO) vet ./...) || exit 1; done

## lint: golangci-lint, built from source at a fixed version
lint:
	@mkdir -p bin; test -x bin/golangci-lint || GOBIN=$(CURDIR)/bin GOWORK=off $(GO) install $(GOLANGCI)
	@for m in $(MODULES); do echo "== lint $$m"; (cd $$m && $(CURDIR)/bin/golangci-lint run --config $(CURDIR)/.golangci.yml ./...) || exit 1; done

## apidiff: the API of every module against that of the last tag, if there is one
apidiff:
	@$(GO) run ./internal/release apidiff

## tidy: go mod tidy in every module
tidy:
	$(GO) run ./internal/release tidy

## results: docs/results.md and docs/tasks.md from public logs, which it downloads into logs/ (an hour; goes on where it was interrupted)
results: hedge
	./docs/fetch-logs.sh logs
	./bin/hedge results --traces @docs/logs.txt --sweeps google-30min
	./bin/hedge results --only tasks --traces @docs/tasks.txt --out docs/tasks.md --notes docs/tasks-notes.md

## bench: the benchmarks of docs/benchmarks.md
bench:
	@for m in $(MODULES); do (cd $$m && $(GO) test -run '^$$' -bench . -benchmem ./...) || exit 1; done

## bench-solvers: the native engine beside generic solvers, into docs/bench-*.md (half an hour on a quiet machine)
bench-solvers: deps hedge-full highs ortools
	./docs/bench-solvers.sh

clean:
	rm -rf bin results
