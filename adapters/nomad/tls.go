package nomad

import "crypto/tls"

// newTLS is what Nomad's client starts from.
func newTLS() *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS12} }
