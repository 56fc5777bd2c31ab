package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/planner"
)

func TestConfigReadsBothForms(t *testing.T) {
	for _, dsn := range []string{
		"postgres://ann:s3cret@db1:6432/app?application_name=mine",
		"host=db1 port=6432 user=ann password=s3cret dbname=app application_name=mine",
		`host = 'db1' port=6432 user=ann password='s3cret' dbname=app application_name=mine`,
	} {
		config, err := Config(dsn)
		if err != nil {
			t.Fatalf("%s: %v", dsn, err)
		}
		got := fmt.Sprint(config.Host, config.Port, config.User, config.Password, config.Database, config.RuntimeParams["application_name"])
		if got != fmt.Sprint("db1", 6432, "ann", "s3cret", "app", "mine") {
			t.Errorf("%s: got %s", dsn, got)
		}
		if config.DefaultQueryExecMode != pgx.QueryExecModeExec {
			t.Errorf("%s: exec mode %v", dsn, config.DefaultQueryExecMode)
		}
	}
}

func TestConfigNamesItself(t *testing.T) {
	for dsn, want := range map[string]string{
		"host=h user=u": "pghaul",
		"host=h user=u fallback_application_name=fb":                    "fb",
		"host=h user=u fallback_application_name=fb application_name=a": "a",
	} {
		config, err := Config(dsn)
		if err != nil {
			t.Fatal(err)
		}
		if got := config.RuntimeParams["application_name"]; got != want {
			t.Errorf("%s: application_name %q, want %q", dsn, got, want)
		}
		if _, left := config.RuntimeParams["fallback_application_name"]; left {
			t.Errorf("%s: fallback_application_name goes to the server", dsn)
		}
	}
}

func TestConfigTakesClientOptions(t *testing.T) {
	config, err := Config("host=h user=u keepalives=1 keepalives_idle=7 keepalives_interval=8 keepalives_count=9 gssencmode=prefer " +
		"client_encoding=auto load_balance_hosts=random tcp_user_timeout=5 options='-c geqo=off'")
	if err != nil {
		t.Fatal(err)
	}
	if len(config.RuntimeParams) != 2 || config.RuntimeParams["options"] != "-c geqo=off" {
		t.Errorf("the server would be told %v", config.RuntimeParams)
	}
}

func TestKeepAlive(t *testing.T) {
	params := func(kv ...string) *pgx.ConnConfig {
		config, err := pgx.ParseConfig("host=h user=u")
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(kv); i += 2 {
			config.RuntimeParams[kv[i]] = kv[i+1]
		}
		return config
	}
	alive, err := takeClientOptions(params())
	if err != nil || !alive.Enable || alive.Idle != 30*time.Second {
		t.Errorf("default: %+v, %v", alive, err)
	}
	alive, err = takeClientOptions(params("keepalives", "0"))
	if err != nil || alive.Enable {
		t.Errorf("off: %+v, %v", alive, err)
	}
	alive, err = takeClientOptions(params("keepalives_idle", "7", "keepalives_interval", "0", "keepalives_count", "4"))
	if err != nil || alive.Idle != 7*time.Second || alive.Interval != -1 || alive.Count != 4 {
		t.Errorf("set: %+v, %v", alive, err)
	}
	if _, err = takeClientOptions(params("keepalives_idle", "soon")); err == nil {
		t.Error("keepalives_idle=soon was taken")
	}
}

func TestHostAddress(t *testing.T) {
	for _, test := range []struct{ dsn, host, lookedUp, address string }{
		{"host=db1 hostaddr=10.0.0.7 user=u", "db1", "db1", "10.0.0.7"},
		{"hostaddr=10.0.0.7 user=u", "10.0.0.7", "10.0.0.7", "10.0.0.7"},
		{`hostaddr=10.0.0.7 user=u password=a\`, "10.0.0.7", "10.0.0.7", "10.0.0.7"},
		{"postgres://u@/db?hostaddr=10.0.0.7", "10.0.0.7", "10.0.0.7", "10.0.0.7"},
		{"postgres://u@db1/db?hostaddr=10.0.0.7", "db1", "db1", "10.0.0.7"},
		{"host=db1,db2 hostaddr=10.0.0.7,10.0.0.8 user=u", "db1", "db2", "10.0.0.8"},
	} {
		config, err := Config(test.dsn)
		if err != nil {
			t.Errorf("%s: %v", test.dsn, err)
			continue
		}
		found, err := config.LookupFunc(context.Background(), test.lookedUp)
		if config.Host != test.host || err != nil || len(found) != 1 || found[0] != test.address {
			t.Errorf("%s: host %s is dialled as %v (%v)", test.dsn, config.Host, found, err)
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, dsn := range []string{
		"host=h user=u requirepeer=postgres", "host=h user=u sslcrl=/x", "host=h user=u gssencmode=require",
		"host=h user=u replication=database", "host=h hostaddr=name user=u", "host=a,b hostaddr=10.0.0.1 user=u",
		"host=h user=u keepalives_idle=soon", "host=h port=seven user=u", "host=h user=u sslmode=sometimes", "nonsense",
		"postgres://u:p@h:port/db", "host='h", "host=h user=u connect_timeout=x", "service=no_such_service_here",
		"host=h user=u sslmode=verify-ca sslrootcert=/no/such/file",
	} {
		_, err := Config(dsn)
		var e *planner.Error
		if !errors.As(err, &e) || e.Kind != planner.Usage {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

func TestConfigErrorSaysWhatIsWrong(t *testing.T) {
	for dsn, want := range map[string]string{
		"service=no_such_service_here":           "service file",
		"host=h user=u sslmode=sometimes":        "sslmode",
		"postgres://u:s3cret@h:port/db":          "port",
		"host=h user=u connect_timeout=x":        "connect_timeout",
		"host=a,b port=1,2,3 password=s3cret":    "more or fewer ports",
		"host=h target_session_attrs=friendship": "target_session_attrs",
		"nonsense s3cret":                        "",
	} {
		_, err := Config(dsn)
		var e *planner.Error
		if !errors.As(err, &e) || !strings.Contains(e.Detail, want) || want == "" && e.Detail != "" || strings.Contains(e.Error()+e.Detail+e.Hint, "s3cret") {
			t.Errorf("%s: %+v", dsn, e)
		}
	}
}

func TestConnectCauseTellsOnce(t *testing.T) {
	err := errors.New("h:1 (10.0.0.1): refused\nh:1 (10.0.0.1): refused\nh:2: no route")
	if got := (connectCause{err}).Error(); got != "h:1 (10.0.0.1): refused; h:2: no route" {
		t.Error(got)
	}
}

func TestConfigErrorNamesFile(t *testing.T) {
	_, err := Config("host=h user=u password=s3cret sslmode=verify-ca sslrootcert=/no/such/file")
	if err == nil || !strings.Contains(err.Error(), "/no/such/file") || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
}

// secret is long and odd enough to be in no message by accident.
const secret = "zq7Xw9Kp"

// hidden fails the test when any part of err shows the secret.
func hidden(t *testing.T, what string, err error) {
	t.Helper()
	var e *planner.Error
	if err == nil {
		return
	}
	if !errors.As(err, &e) {
		t.Errorf("%s: %T is not a planner.Error: %v", what, err, err)
		return
	}
	for _, text := range []string{err.Error(), e.Message, e.Detail, e.Hint, fmt.Sprintf("%+v", err), fmt.Sprintf("%v", e.Cause)} {
		if strings.Contains(text, secret) {
			t.Errorf("%s: the password is in %q", what, text)
		}
	}
}

func TestBrokenStringsHideThePassword(t *testing.T) {
	for _, dsn := range []string{
		"postgres://u:" + secret + "@h:x/db", "postgres://u:" + secret + "/x@h/db",
		"postgres://u:%zz" + secret + "@h/db", "postgres://u@h/db?password=" + secret + "&port=x",
		"host=h password='" + secret, "host=h password = " + secret + " port=x", "host=h password=" + secret + " sslmode=x",
		"password='" + secret + "\\' host=h", "user=u password=a " + secret + " host=h",
		"host=h port='" + secret + "'", "host=h user=u connect_timeout=" + secret,
		"host=h user=u keepalives=" + secret, "host=h user=u password=" + secret + " hostaddr=" + secret,
		"host=h target_session_attrs=" + secret,
	} {
		_, err := Config(dsn)
		if err == nil {
			t.Errorf("%s was read", dsn)
		}
		hidden(t, dsn, err)
	}
}

func FuzzConfigHidesThePassword(f *testing.F) {
	f.Add("postgres://u:", "@h:1/db")
	f.Add("host=h password='", "' port=x")
	f.Add("postgres://u@h/db?password=", "&sslmode=x")
	f.Add("hostaddr=1 password=", "")
	f.Add("host=h password=", `\`)
	f.Add("service=x servicefile=/dev/null password=", " sslcrl=1")
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, dangerous := range []string{"file", "cert", "key", "service"} {
			// These name files, and a path that cannot be read is told.
			if strings.Contains(strings.ToLower(before), dangerous) || strings.Contains(strings.ToLower(after), dangerous) {
				return
			}
		}
		_, err := Config(before + secret + after)
		hidden(t, before+"..."+after, err)
	})
}

func TestQuoteValue(t *testing.T) {
	for _, value := range []string{"", "plain", "it's", `back\slash`, " spaced ", "=", "'", `\`, "new\nline"} {
		config, err := Config(keywords(map[string]string{"host": "h", "user": "u", "password": value}))
		if err != nil {
			t.Errorf("%q: %v", value, err)
		} else if value != "" && config.Password != value {
			t.Errorf("%q was read as %q", value, config.Password)
		}
	}
}
