package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/gateway"
)

const gatewayLong = `Stands between PostgreSQL clients and a server. It relays every byte untouched, and
turns INSERTs that clients send row by row or batch by batch into COPY on the same
server connection, where that gives exactly the same result.

Passwords pass through and are never seen. Each setting can also be given by an
environment variable (--tls-cert is PGHAUL_GATEWAY_TLS_CERT) or in the YAML file
of --config under the flag's name; a flag counts before the environment, and the
environment before the file.

A session chooses its own mode by SET pghaul.mode = 'strict', 'stream' or 'off', or at
connect by options=-c pghaul.mode=stream. In mode stream an INSERT of a transaction
block is answered before the server has checked its rows; docs/gateway.md tells what
that changes.

SIGHUP reads the certificates again. SIGTERM stops accepting, waits for the sessions
up to --drain-timeout, and ends the others between two messages with SQLSTATE 57P01;
once more ends at once. Sockets of systemd (LISTEN_FDS) are listened on.`

const gatewayExamples = `  Before a server, for psql and everything else:
    pghaul gateway --listen :6432 --upstream db1:5432
    psql "host=localhost port=6432 dbname=shop user=app"

  postgres_fdw at COPY's speed; on the machine with the foreign tables:
    pghaul gateway --listen localhost:6432 --upstream db2:5432 --mode stream
    ALTER SERVER db2 OPTIONS (SET host 'localhost', SET port '6432');
    ALTER SERVER db2 OPTIONS (ADD batch_size '1000');

  In the place of PgBouncer, beside the server, with TLS and a console:
    pghaul gateway --listen :6432 --listen /run/pghaul --upstream /var/run/postgresql \
        --tls-cert server.crt --tls-key server.key --admin-users postgres --http localhost:9187
    psql -h /run/pghaul -U postgres pghaul -c 'SHOW TABLES'

  Look at a configuration before it is used:
    pghaul gateway --config /etc/pghaul/gateway.yaml --check`

// gatewayFlags are what the command line, the environment and the file say.
type gatewayFlags struct {
	config              gateway.Config
	receive, send       int64
	file                string
	check               bool
	logFormat, logLevel string
}

func newGateway() *cobra.Command {
	f := &gatewayFlags{logFormat: "text", logLevel: "info"}
	f.config.DrainTimeout = 30 * time.Second
	cmd := &cobra.Command{
		Use:     "gateway --listen ADDR --upstream HOST:PORT",
		Short:   "Relay between clients and a server, turning INSERT into COPY",
		Long:    gatewayLong,
		Example: gatewayExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(cmd, fmt.Sprintf("gateway takes no arguments: %s", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := settings{flags: cmd.Flags(), fileFlag: "config", only: []string{"check", "help"}}
			if err := s.complete(os.Environ()); err != nil {
				return err
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addGroups(cmd, f.addressGroup(), f.insertGroup(), f.tlsGroup(), f.outsideGroup())
	return cmd
}

func (f *gatewayFlags) addressGroup() flagGroup {
	g, c := newGroup("Connections"), &f.config
	g.flags.Var(wordsFlag(&c.Listen, "ADDR,..."), "listen", "host:port, :port, or a directory for a Unix socket (/run/pghaul, /run/pghaul:6432); may be repeated")
	g.flags.Var(textFlag(&c.Upstream, "ADDR"), "upstream", "the server: host:port, host, or the directory of its Unix socket")
	g.flags.Var(sizeFlag(&f.receive).shown("64kB"), "receive-buffer", "size of the blocks in which clients are read, 8kB to 16MB")
	g.flags.Var(sizeFlag(&f.send).shown("64kB"), "send-buffer", "size of the blocks in which the server is read, 8kB to 16MB")
	g.flags.Var(patienceFlag(f), "drain-timeout", "how long sessions may go on after SIGTERM; 0 for not at all")
	return g
}

func (f *gatewayFlags) insertGroup() flagGroup {
	g, c := newGroup("INSERT to COPY"), &f.config
	g.flags.Var(choiceFlag(&c.Mode, "MODE", "strict", []string{"strict", "stream", "off"}, []gateway.Mode{gateway.Strict, gateway.Stream, gateway.Off}),
		"mode", "what sessions start with: strict, stream or off")
	g.flags.Var(periodFlag(&c.StreamIdle, "50ms"), "stream-idle", "in mode stream, end a COPY when no INSERT comes for so long")
	return g
}

func (f *gatewayFlags) tlsGroup() flagGroup {
	g, c := newGroup("TLS"), &f.config
	g.flags.Var(textFlag(&c.TLSCert, "FILE"), "tls-cert", "certificate chain for clients that ask for TLS, PEM")
	g.flags.Var(textFlag(&c.TLSKey, "FILE"), "tls-key", "its key, PEM")
	modes := []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}
	g.flags.Var(choiceFlag(&c.UpstreamSSLMode, "MODE", "prefer", modes, modes), "upstream-sslmode", "as libpq's sslmode: disable, allow, prefer, require, verify-ca or verify-full")
	g.flags.Var(textFlag(&c.UpstreamRootCert, "FILE"), "upstream-root-cert", "certificates that may have signed the server's, PEM, or system")
	bindings := []string{"prefer", "disable"}
	g.flags.Var(choiceFlag(&c.ChannelBinding, "MODE", "prefer", bindings, bindings), "channel-binding", "disable states that all clients have channel_binding=disable")
	return g
}

func (f *gatewayFlags) outsideGroup() flagGroup {
	g, c := newGroup("Seen from outside"), &f.config
	g.flags.Var(wordsFlag(&c.AdminUsers, "ROLE,..."), "admin-users", "roles that may ask the virtual database pghaul, from this machine and without a password")
	g.flags.Var(textFlag(&c.HTTP, "ADDR"), "http", "host:port of /metrics, /healthz and the status page, which ask for no password")
	formats, levels := []string{"text", "json"}, []string{"debug", "info", "warn", "error"}
	g.flags.Var(choiceFlag(&f.logFormat, "FORMAT", "text", formats, formats), "log-format", "form of the log on standard error: text or json")
	g.flags.Var(choiceFlag(&f.logLevel, "LEVEL", "info", levels, levels), "log-level", "debug, info, warn or error")
	g.flags.Var(textFlag(&f.file, "FILE"), "config", "YAML file with the settings that no flag and no variable gives")
	g.flags.BoolVar(&f.check, "check", false, "look at the settings, say who can log in, and end")
	return g
}

// run checks the settings or runs the gateway until ctx ends.
func (f *gatewayFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	c := &f.config
	c.ReceiveBuffer, c.SendBuffer = int(f.receive), int(f.send)
	c.Version = currentVersion()
	c.Logger = f.logger(stderr)
	listeners, err := handedOver(os.Getpid())
	if err != nil {
		return err
	}
	c.Listeners = listeners
	g, err := gateway.New(c)
	if err != nil {
		return err
	}
	if f.check {
		return printAllowed(ctx, stdout, g)
	}
	stopReloading := reloadOnHangup(g, c.Logger)
	defer stopReloading()
	stopTelling := context.AfterFunc(ctx, func() {
		c.Logger.Info("draining: no new connections are taken; a second signal ends at once", "timeout", max(0, c.DrainTimeout))
	})
	defer stopTelling()
	return g.Run(ctx)
}

func (f *gatewayFlags) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	// The flag takes known levels only.
	_ = level.UnmarshalText([]byte(f.logLevel))
	options := &slog.HandlerOptions{Level: level}
	if f.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func printAllowed(ctx context.Context, w io.Writer, g *gateway.Gateway) error {
	lines, err := g.Allowed(ctx)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	if err == nil {
		fmt.Fprintln(w, "The settings are valid.")
	}
	return err
}

// reloadOnHangup reads the certificates again at each SIGHUP, until stop is called.
func reloadOnHangup(g *gateway.Gateway, log *slog.Logger) (stop func()) {
	hangups, quit := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for {
			select {
			case <-hangups:
			case <-quit:
				return
			}
			if err := g.Reload(); err != nil {
				log.Error("cannot read the certificates again; those read before stay", "error", err)
				continue
			}
			log.Info("read the certificates again; other settings need a restart")
		}
	})
	return func() {
		signal.Stop(hangups)
		close(quit)
		waiting.Wait()
	}
}
