# Everything a machine lacks (PostgreSQL, a C compiler for the race detector, the linter) is set up by the targets themselves.

LINT_VERSION = v2.15.0
MATRIX       = 14 16 17 18
FUZZTIME     = 10s
TIMEOUT      = 25m
PACKAGES     = ./...
# Two packages at a time: each may run two servers of its own.
PARALLEL     = 2

.DEFAULT_GOAL := help
.PHONY: help demo build test check fmt vet lint house test-matrix fuzz cover install-postgres clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build install-postgres ## copy a table between two throwaway servers, by each method
	bin/pghaul demo

build: setup-go ## build bin/pghaul
	go build -o bin/pghaul ./cmd/pghaul

test: setup-race install-postgres ## run all tests
	go test -race -p $(PARALLEL) -timeout $(TIMEOUT) $(PACKAGES)

check: fmt vet lint house test ## everything that must pass before a change lands

fmt: setup-go ## fail on files that gofmt would change
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "run gofmt -w on:" $$files >&2; exit 1; fi

vet: setup-go ## go vet
	go vet $(PACKAGES)

lint: setup-go ## golangci-lint
	scripts/lint $(LINT_VERSION) $(PACKAGES)

house: setup-go ## the house rules: layers, sizes, names, docstrings
	go test -count=1 house_test.go

test-matrix: setup-race install-postgres ## run the server tests on PostgreSQL 14, 16, 17 and 18 too
	TIMEOUT=$(TIMEOUT) scripts/test-matrix $(MATRIX)

fuzz: setup-go ## run each fuzz test for FUZZTIME (10s)
	scripts/fuzz $(FUZZTIME)

cover: setup-go install-postgres ## test coverage by package, and in total
	@mkdir -p bin
	go test -p $(PARALLEL) -timeout $(TIMEOUT) -coverprofile=bin/cover.out $(PACKAGES)
	go tool cover -func=bin/cover.out | tail -1

install-postgres: ## install PostgreSQL where it is missing
	@scripts/setup-postgres

clean: ## remove what was built
	rm -rf bin

.PHONY: setup-go setup-race
setup-go:
	@scripts/setup-go

setup-race:
	@scripts/setup-go race
