package cluster

// Alive is alive for the tests outside the package.
var Alive = alive
