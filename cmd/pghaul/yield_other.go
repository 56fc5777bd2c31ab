//go:build !linux

package main

// yieldToServers does nothing where the scheduler has no policy for it.
func yieldToServers() (restore func()) { return func() {} }
