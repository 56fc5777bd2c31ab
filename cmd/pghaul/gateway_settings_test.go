package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/gateway"
)

// settled reads a command line, an environment and a file's text, and returns what they come to.
func settled(t *testing.T, args, environ []string, file string) (*gatewayFlags, error) {
	t.Helper()
	f := &gatewayFlags{}
	flags := newGroup("all").flags
	for _, g := range []flagGroup{f.addressGroup(), f.insertGroup(), f.tlsGroup(), f.outsideGroup()} {
		flags.AddFlagSet(g.flags)
	}
	if file != "" {
		name := filepath.Join(t.TempDir(), "g.yaml")
		if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", name)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	s := settings{flags: flags, fileFlag: "config", only: []string{"check", "help"}}
	return f, s.complete(environ)
}

func TestGatewaySettingsComeFromThreePlaces(t *testing.T) {
	f, err := settled(t,
		[]string{"--listen", "a:1", "--listen", "b:2,c:3", "--mode", "off"},
		[]string{"HOME=/", "PGHAUL_GATEWAY_LISTEN=d:4", "PGHAUL_GATEWAY_MODE=strict", "PGHAUL_GATEWAY_UPSTREAM=env:5432", "PGHAUL_GATEWAY_TLS_CERT=",
			"PGHAUL_GATEWAY_DRAIN_TIMEOUT=0"},
		`# comment
listen: [e:5, f:6]
mode: stream
upstream: file:5432
tls-cert: cert.pem
tls-key: "key.pem"
admin-users:
  - ops
  - "ana"
receive-buffer: 1MB
send-buffer: 8192
stream-idle: 20ms
upstream-sslmode: require
http: localhost:9187
log-format: json
`)
	if err != nil {
		t.Fatal(err)
	}
	want := gateway.Config{
		Listen: []string{"a:1", "b:2", "c:3"}, Mode: gateway.Off, Upstream: "env:5432", TLSCert: "cert.pem", TLSKey: "key.pem",
		AdminUsers: []string{"ops", "ana"}, StreamIdle: 20 * time.Millisecond, UpstreamSSLMode: "require", HTTP: "localhost:9187", DrainTimeout: -1,
	}
	if d := cmp.Diff(want, f.config); d != "" {
		t.Error(d)
	}
	if f.receive != 1<<20 || f.send != 8192 || f.logFormat != "json" {
		t.Errorf("buffers %d and %d, log %s", f.receive, f.send, f.logFormat)
	}
}

func TestGatewayFileMayBeEmpty(t *testing.T) {
	for _, file := range []string{"\n", "# nothing\n", "---\n"} {
		if _, err := settled(t, nil, nil, file); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestGatewaySettingsThatMakeNoSense(t *testing.T) {
	tests := []struct {
		name    string
		environ []string
		file    string
		want    []string
	}{
		{"variable", []string{"PGHAUL_GATEWAY_LISTENS=x"}, "", []string{"PGHAUL_GATEWAY_LISTENS names no setting"}},
		{"variable in lower case", []string{"PGHAUL_GATEWAY_listen=x"}, "", []string{"PGHAUL_GATEWAY_listen names no setting"}},
		{"variable for the command line", []string{"PGHAUL_GATEWAY_CHECK=1"}, "", []string{"PGHAUL_GATEWAY_CHECK names no setting"}},
		{"variable's value", []string{"PGHAUL_GATEWAY_MODE=fast"}, "", []string{`PGHAUL_GATEWAY_MODE: invalid value "fast": choose one of strict, stream, off`}},
		{"no such file", []string{"PGHAUL_GATEWAY_CONFIG=/nowhere/g.yaml"}, "", []string{"read the configuration", "/nowhere/g.yaml"}},
		{"unknown name", nil, "mode: off\nlistens: x\n", []string{`line 2: "listens" is no setting`}},
		{"underscore", nil, "tls_cert: x\n", []string{`line 1: "tls_cert" is no setting`}},
		{"file in file", nil, "config: x\n", []string{`"config" is no setting`}},
		{"check in file", nil, "check: true\n", []string{`"check" is no setting`}},
		{"all at once", []string{"PGHAUL_GATEWAY_X=1"}, "mode: fast\nhttp:\nstream-idle: 0\nlisten: {a: 1}\nsend-buffer: [8kB, 9kB, many]\n", []string{
			"PGHAUL_GATEWAY_X names", `line 1: mode: invalid value "fast"`, "line 2: http: it has no value", "line 3: stream-idle: invalid value",
			"line 4: listen: give a value", `line 5: send-buffer: invalid value "many"`}},
		{"twice", nil, "mode: off\nmode: strict\n", []string{"twice"}},
		{"a list", nil, "- mode\n", []string{"not a list of settings"}},
		{"a word", nil, "mode\n", []string{"not a list of settings"}},
		{"no YAML", nil, "mode: [off\n", []string{"yaml: line"}},
		{"nested list", nil, "listen: [[a]]\n", []string{"give a value, or a list of values"}},
		{"empty list", nil, "listen: []\n", []string{"it has no value"}},
		{"empty part", nil, "listen: 'a:1,,b:2'\n", []string{"empty part"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := settled(t, nil, tt.environ, tt.file)
			if err == nil {
				t.Fatal("taken")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, err)
				}
			}
		})
	}
}

func TestGatewaySettingsSuggestNames(t *testing.T) {
	_, err := settled(t, nil, nil, "tls_cert: x\n")
	if m := newMessage(err); m.Hint != "Did you mean tls-cert?" {
		t.Errorf("hint %q", m.Hint)
	}
}

func FuzzGatewayFile(f *testing.F) {
	f.Add([]byte("listen: [a:1]\nmode: off\n"))
	f.Add([]byte("a: &x [*x]\nlisten: *x\n"))
	f.Add([]byte("? [a]\n: {b: }\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		g := &gatewayFlags{}
		s := settings{flags: g.addressGroup().flags, fileFlag: "config"}
		// It must return, whatever the text.
		_ = s.readYAML("f", text)
	})
}
