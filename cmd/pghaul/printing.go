package main

import "io"

// printing is what a verb that moves rows prints, and how.
type printing struct {
	explain, dryRun, analyze bool
	output                   string
	progress                 string
	quiet, verbose           bool
}

// group gives the flags; verb is what is done without --explain.
func (p *printing) group(verb string) flagGroup {
	g := newGroup("Output")
	g.flags.BoolVar(&p.explain, "explain", false, "print the plan and its SQL, change nothing")
	g.flags.BoolVar(&p.dryRun, "dry-run", false, "the same as --explain")
	g.flags.BoolVar(&p.analyze, "analyze", false, verb+", then print the plan with what it really took")
	outputFlag(g, &p.output)
	p.progress = "auto"
	g.flags.Var(choiceFlag(&p.progress, "MODE", "auto", progressModes, progressModes), "progress", "auto, bar, plain, json or none")
	g.flags.BoolVarP(&p.quiet, "quiet", "q", false, "only errors")
	g.flags.BoolVarP(&p.verbose, "verbose", "v", false, "log what happens to standard error")
	return g
}

// display shows the progress as was asked for.
func (p *printing) display(stderr io.Writer) *display {
	mode := p.progress
	if p.quiet {
		mode = "none"
	}
	return newDisplay(mode, stderr)
}
