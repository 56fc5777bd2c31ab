// Command pghaul moves rows into PostgreSQL tables.
//
// It has one verb for each kind of work; pghaul help lists them. Data and plans go to standard output; progress, summaries
// and messages go to standard error. Exit codes: 0 done, 1 failed, 2 usage, 3 done with refused rows set aside, 4 the asked
// method or option is refused, 130 cancelled.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/planner"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out one command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	notice := "\nNOTICE:  cancelling and waiting for the servers; once more ends at once"
	if len(args) > 0 && args[0] == "gateway" {
		notice = "" // its log says so, which may be JSON
	}
	ctx, stop := cancelOnSignal(stderr, notice)
	defer stop()
	root := newRoot()
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(joinOptional(args))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	printError(stderr, err, ctx.Err() != nil)
	return exitCode(err, ctx.Err() != nil)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "pghaul",
		Short: "Move rows into PostgreSQL tables as fast as the hardware allows",
		Long: `pghaul moves rows into PostgreSQL tables as fast as the hardware allows.

It chooses the fastest way that is safe, says which SQL it will send and why,
and never loses or doubles a row.`,
		Example: `  See it work on two throwaway servers:
    pghaul demo

  Look at the plan of a copy, then make it:
    pghaul copy --explain --source postgres://db1/shop --target postgres://db2/shop orders
    pghaul copy           --source postgres://db1/shop --target postgres://db2/shop orders`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			if asked, _ := cmd.Flags().GetBool("version"); asked {
				printVersion(cmd.OutOrStdout())
				return nil
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolP("version", "V", false, "print the version, as the tools of PostgreSQL do")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		w := cmd.OutOrStdout()
		fmt.Fprintf(w, "Usage:\n  pghaul VERB [flags] ...\n\nVerbs:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-9s %s\n", c.Name(), c.Short)
			}
		}
		fmt.Fprintf(w, "\nExamples:\n%s\n\npghaul VERB --help explains a verb.\n", cmd.Example)
		return nil
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError(cmd, err.Error()) })
	root.AddCommand(newCopy(), newLoad(), newVerify(), newGateway(), newHeap(), newDemo(), newVersion())
	return root
}

func unknownVerb(cmd *cobra.Command, verb string) error {
	hint := "pghaul help lists the verbs."
	if near := cmd.SuggestionsFor(verb); len(near) > 0 {
		hint = fmt.Sprintf("Did you mean %s?", strings.Join(near, " or "))
	}
	return &planner.Error{Kind: planner.Usage, Message: fmt.Sprintf("no such verb: %s", verb), Hint: hint}
}

// usageError is one or more complaints about the command line itself; nil when there are none.
func usageError(cmd *cobra.Command, messages ...string) error {
	var all []error
	for i, m := range messages {
		hint := ""
		if i == len(messages)-1 {
			hint = cmd.CommandPath() + " --help explains the flags."
		}
		all = append(all, &planner.Error{Kind: planner.Usage, Message: m, Hint: hint})
	}
	return errors.Join(all...)
}

// joinOptional lets flags take their value after a blank or leave it out: "--verify", "--verify count" and "--verify=count".
// The flag library knows only two of the three for any one flag.
func joinOptional(args []string) []string {
	values := map[string][]string{ // the first is meant when none is given
		"--verify": {"hash", "count"},
		"--freeze": {"yes", "no", "auto"},
	}
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		known, optional := values[args[i]]
		switch {
		case !optional:
			out = append(out, args[i])
		case i+1 < len(args) && slices.Contains(known, args[i+1]):
			out = append(out, args[i]+"="+args[i+1])
			i++
		default:
			out = append(out, args[i]+"="+known[0])
		}
	}
	return out
}

// cancelOnSignal returns a context that the first SIGINT or SIGTERM ends, so that the work on the servers is stopped in good
// order, and prints the notice. The second one ends the process at once.
func cancelOnSignal(stderr io.Writer, notice string) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	quit := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for first := true; ; first = false {
			select {
			case <-signals:
			case <-quit:
				return
			}
			if !first {
				os.Exit(exitCancelled)
			}
			if notice != "" {
				fmt.Fprintln(stderr, notice)
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(quit)
		<-done
		cancel()
	}
}
