// Package gateway stands between PostgreSQL clients and one PostgreSQL server and relays their protocol, byte for byte.
//
// Model: each accepted connection is read up to its start-up packet, which is forwarded untouched over a connection of its
// own to the server; authentication is relayed and passwords are never seen. From then on a session is two goroutines: front
// carries the client's bytes to the server, back the server's bytes to the client. Both always read, so what one direction
// waits for never keeps the other from moving. They look at message headers only, and at bodies where a hook asks for one. A
// cancel request goes to the server over a fresh connection.
//
// Memory: a direction takes a block from a shared pool only while bytes move, so an idle session holds two goroutines and two
// sockets, and a value of 1 GB passes in blocks of 64 kB.
//
// Limits: one server behind each gateway, no pooling of its connections. Authentication that is bound to the socket (cert,
// peer, ident) cannot be relayed. SCRAM with channel binding passes over TLS on both sides only when the gateway uses the
// server's own certificate (Gateway.Check tells).
package gateway
