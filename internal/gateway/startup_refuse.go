package gateway

import "github.com/pghaul/pghaul/internal/wire"

// SQLSTATEs that the gateway itself reports (manual, "PostgreSQL Error Codes").
const (
	adminShutdown       = "57P01"
	cannotConnect       = "08001" // sqlclient_unable_to_establish_sqlconnection
	featureNotSupported = "0A000"
	protocolViolation   = "08P01"
)

// fatalError is an ErrorResponse after which the connection is closed.
func fatalError(code, message string) []byte {
	fields := "SFATAL\x00VFATAL\x00C" + code + "\x00M" + message + "\x00\x00"
	return append(wire.AppendHeader(nil, wire.TypeError, len(fields)), fields...)
}
