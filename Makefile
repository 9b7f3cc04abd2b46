# nodestorm. `make help` lists what can be made.

GO      ?= go
LINT    := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
# A hanging test ends with all stacks. Builds of Cluster Autoscaler in the store make the
# features long.
TIMEOUT ?= 60m
# As the command is built, so that no package is compiled once for it and once for tests.
TEST    := $(GO) test -trimpath
GOTESTSUM := $(GO) run gotest.tools/gotestsum@v1.13.0
BIN     := bin/nodestorm
OUT     ?= reports/out

# What the command is built from, for its reports; empty without git.
BUILT    = $(shell git rev-parse HEAD 2>/dev/null)$(shell test -z "$$(git status --porcelain 2>/dev/null)" || echo +dirty)

# Tools and benchmarks for who works on nodestorm, a module of their own. Benchmarks run there, and
# $(call TOOL,NAME) is a tool that runs here.
DEVTOOLS := harness/cmd/devtools
BENCH    = $(GO) test -C $(DEVTOOLS) -trimpath
TOOL     = $(GO) build -C $(DEVTOOLS) -trimpath -o $(CURDIR)/bin/devtools/ ./$(1) && bin/devtools/$(1)

# Everything heavy runs niced: a workstation stays usable during a cold build.
NICE    := nice

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this
	@awk -F ':.*## ' '/^[a-zA-Z_-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The source of ours that is linked into Karpenter is another module, which no //go:embed of this one can name.
CARRIED := harness/builds/buildstore/carried/karpenter.zip
.PHONY: carried
carried:
	@git archive --format=zip -o $(CARRIED) HEAD:fakecloud/adapters/karpenter 2>/dev/null || rm -f $(CARRIED)

.PHONY: build
build: carried ## Build the nodestorm command into bin/
	@test -e $(BIN) || echo "building $(BIN): a minute or two the first time" >&2
	@$(GO) build -trimpath -ldflags "-X nodestorm/harness/replay.built=$(BUILT)" -o $(BIN) ./harness/cmd/nodestorm

# Not bin/nodestorm: without cgo nearly every package is compiled anew.
.PHONY: image
image: carried ## Make nodestorm's own container image, bin/image.tar: make image WITH="kubernetes@v1.36.3 karpenter@v1.7.0"
	@echo "building bin/static/nodestorm: minutes the first time" >&2
	@{ CGO_ENABLED=0 $(GO) build -v -trimpath -ldflags "-s -w -X nodestorm/harness/replay.built=$(BUILT)" -o bin/static/nodestorm ./harness/cmd/nodestorm 2>&1; \
	  echo "status $$?"; } | awk '/^status [0-9]+$$/ {exit $$2} /^[a-zA-Z0-9.\/_-]+$$/ {if (++n % 100 == 0) print n " packages are compiled"; next} {print}' >&2
	@bin/static/nodestorm target image --out-file bin/image.tar $(addprefix --include ,$(WITH))

.PHONY: setup
setup: build ## Build what replays need: Kubernetes, Karpenter, Cluster API, controllers of ours (about half an hour once)
	@$(NICE) $(BIN) target get --all --build

.PHONY: replay
replay: build ## Replay every failure on its affected and its fixed release; two worlds at a time with PARALLEL=2
	@$(BIN) verify --all $(if $(PARALLEL),--parallel $(PARALLEL)) --out $(OUT)/verify
	@$(BIN) recheck --cross $(OUT)/verify

# The pages that the README's pictures show; none needs a build of Cluster Autoscaler.
PICTURED := karpenter-7515-not-ready-noexecute karpenter-2300-double-launch clusterapi-10712-skipped

.PHONY: pictures
pictures: build browser ## Replay what the pictures of the README show, and make them anew
	@$(BIN) verify $(PICTURED) --out $(OUT)/pictures
	@NODESTORM_RUNS=$(CURDIR)/$(OUT)/pictures NODESTORM_SHOTS=$(CURDIR)/reports/testdata/pictures $(TEST) ./reports/page -run '^TestPictures$$' -count=1 -v

.PHONY: browser
browser: ## Install Debian's Chromium, which the tests of pages drive, if root may
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		echo "installing chromium for the tests of pages" >&2 && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
		echo "no chromium, and it could not be installed: the tests of pages in a browser are skipped" >&2

# Nested modules with tests of their own.
TESTED  := sim/csrapprover fakecloud/adapters/karpenter fakecloud/testcontainers fakecloud/aws/contract features/nodestormtest $(DEVTOOLS)

.PHONY: test
test: setup browser ## Run all tests, the replays among them
	@$(TEST) -p 1 -timeout $(TIMEOUT) ./...
	@for module in $(TESTED); do (cd $$module && $(TEST) ./...) || exit 1; done

.PHONY: test-times
test-times: setup browser ## Run all tests and list the ten slowest
	@mkdir -p $(OUT)
	@$(GOTESTSUM) --format pkgname --jsonfile $(OUT)/tests.json -- -trimpath -p 1 -timeout $(TIMEOUT) ./... && $(GOTESTSUM) tool slowest --num 10 --jsonfile $(OUT)/tests.json

# vcsim, which the fake vSphere is made of, has data races of its own (its answers are
# written out while its objects change).
RACY    := nodestorm/fakecloud/vcenter

.PHONY: test-short
test-short: ## Run the tests that need no Kubernetes, with the race detector
	@$(TEST) -short -race -timeout $(TIMEOUT) $$($(GO) list ./... | grep -vxF "$(RACY)")
	@$(TEST) -short -timeout $(TIMEOUT) $(RACY)
	@for module in $(TESTED); do (cd $$module && $(TEST) -short ./...) || exit 1; done

# Records that play on a real cluster in about an hour, as they are: nothing is shortened.
ON_KIND := karpenter-7515-not-ready-noexecute karpenter-3038-forced-deletion bootstrap-12059-csr-approver bootstrap-12059-toleration \
	hetzner-6677-options-error clusterapi-7872-conflict-forced

# Containers' ports are on this machine, and nothing but the tests removes containers.
ON_LOOPBACK := TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1 TESTCONTAINERS_RYUK_DISABLED=true

.PHONY: test-kind
test-kind: COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null)
test-kind: setup ## Play records on real clusters beside simulated ones (Docker, root and a Debian mirror; no image registry)
	@$(NICE) $(BIN) cluster image
	@$(NICE) $(MAKE) image && docker load --input bin/image.tar
	@cd fakecloud/testcontainers && $(ON_LOOPBACK) $(TEST) ./... -count=1 -v
	@$(TEST) ./harness/world/container -count=1 -v -timeout 10m
	@$(TEST) ./harness/world/kind/... -p 1 -count=1 -v -timeout 10m
	@$(TEST) ./harness/cli -run '^TestKind' -count=1 -v -timeout 45m
	@$(BIN) verify --cluster kind,sim $(ON_KIND) --out $(OUT)/kind
	@echo "$$(date -u +%F), commit $(COMMIT), Docker $$(docker version --format '{{.Server.Version}}'), $$(nproc) processors" > harness/world/kind/last-passed.txt

.PHONY: fuzz
fuzz: export FUZZTIME ?= 2m
fuzz: ## Run every fuzz function for FUZZTIME, 2m by default
	@.ci/fuzz

.PHONY: mutants
mutants: ## Break nodestorm in all listed ways; a test must notice each: make mutants WORDS="clock fault"
	@$(call TOOL,mutants) $(WORDS)

.PHONY: inert
inert: setup ## Replay every record on programs that do nothing: none may be healthy or reproduced (about an hour)
	@NODESTORM_INERT=all $(GO) test ./harness/replay -run '^TestInert$$' -count=1 -v -timeout 10h

.PHONY: slips
slips: setup ## Play records of Karpenter with a typo that lint does not find: none may be healthy (SEED=16: other draws; about ten minutes)
	@NODESTORM_SLIPS=$(or $(SEED),all) $(GO) test ./harness/replay -run '^TestSlipsPlayed$$' -count=1 -v -timeout 2h

.PHONY: attack
attack: setup ## Try to have nodestorm say what is not so, and write docs/attack.md: make attack ONLY=parts,stops (about an hour)
	@mkdir -p $(OUT)
	@$(call TOOL,attack) $(if $(ONLY),-only $(ONLY)) -json $(OUT)/attack.json -page docs/attack.md $(BIN)

.PHONY: features
features: setup ## Run the features with godog: make features TAGS=@issue-7515
	@$(TEST) ./features/... -count=1 -v -timeout 60m $(if $(TAGS),-godog.tags='$(TAGS)')

.PHONY: repro
repro: setup ## Replay one upstream issue on both sides: make repro ISSUE=7515
	@test -n "$(ISSUE)" || { echo "make repro ISSUE=<number>; bin/nodestorm list shows them" >&2; exit 2; }
	@$(BIN) verify --tags @issue-$(ISSUE) --out $(OUT)/verify

# The schema is part of the program that writes the pages.
.PHONY: reference
reference: ## Write docs/reference and what it is made of, from the code
	@$(TEST) ./harness/cli/explain -run '^TestSchema$$' -update
	@$(TEST) ./harness/cli/explain ./harness/cli/events ./harness/sentences/reference ./harness ./harness/cli ./scenarios ./sim/history/measure -run '^TestReference' -update

.PHONY: editor
editor: ## Check the schema of records with an editor's language server (installs it with npm)
	@npm install --no-audit --no-fund --silent --prefix bin/npm yaml-language-server@1.18.0
	@$(TEST) ./harness/cli/explain -run '^TestEditor$$' -v

.PHONY: bench
bench: setup ## Measure what BENCHMARKS.md says (about 15 min)
	@$(BENCH) ./bench -run '^$$' -bench . -skip 'Machines|UnforcedConflict|Parallel|Scale|Autoscalers|Growth' -benchtime 1x -count 5 -timeout 60m

.PHONY: bench-parallel
bench-parallel: setup ## Measure two worlds at a time against one (about 6 min)
	@$(BENCH) ./bench -run '^$$' -bench Parallel -benchtime 1x -timeout 30m

.PHONY: bench-scale
bench-scale: setup ## Hold nodes and pods by the thousand against KWOK's, and autoscalers against their own thresholds (about an hour)
	@$(BENCH) ./bench -run '^$$' -bench 'Scale|Autoscalers' -benchtime 1x -timeout 3h

.PHONY: profile
profile: setup ## Draw what the processors do in a replay, all programs in one flame graph: make profile ID=karpenter-3038-forced-deletion
	@command -v perf >/dev/null || { echo "no perf: apt-get install linux-perf" >&2; exit 2; }
	@$(call TOOL,profile) -out $(OUT)/profile $(BIN) verify --parallel 1 --out $(OUT)/profile/runs $(or $(ID),karpenter-7515-not-ready-noexecute)

.PHONY: bench-gate
bench-gate: setup ## Compare the figures that matter with another commit's, and fail beyond noise: make bench-gate BASE=main (about 10 min)
	@$(call TOOL,benchgate) $(if $(BASE),-base $(BASE))

.PHONY: bench-growth
bench-growth: setup ## Report and draw how costs grow with nodes, pods, virtual minutes and records (about 6 min)
	@mkdir -p $(OUT)
	@{ $(BENCH) ./bench -run '^$$' -bench Growth -benchtime 1x -timeout 3h && \
		$(TEST) ./reports/page -run '^$$' -bench Write -benchtime 1x -timeout 3h; } > $(OUT)/growth.txt || { cat $(OUT)/growth.txt >&2; exit 1; }
	@$(call TOOL,growth) -out $(OUT)/growth.html < $(OUT)/growth.txt

.PHONY: bench-verdicts
bench-verdicts: setup ## Replay records by this and by another commit, and print a table of both: make bench-verdicts COUNT=10 BASE=main IDS="karpenter-3038-forced-deletion"
	@$(call TOOL,benchgate) -verdicts -count $(or $(COUNT),10) $(if $(BASE),-base $(BASE)) $(IDS)

NESTED  := $(patsubst %/go.mod,%,$(filter-out go.mod,$(shell git ls-files '*go.mod')))

.PHONY: lint
lint: ## gofmt, vet and golangci-lint, nested modules too
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "gofmt would change these files" >&2; exit 1; }
	@for module in . $(NESTED); do \
		echo "lint: $$module" >&2; \
		(cd $$module && $(GO) vet ./... && $(LINT) run --config $(CURDIR)/.golangci.yml ./...) || exit 1; \
	done

.PHONY: clean
clean: ## Remove what was built here; the shared cache stays (nodestorm clean --all empties it)
	@rm -rf bin reports/out coverage.out
