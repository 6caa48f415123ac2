package live

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// DefaultMaxMessage is the default limit of a frame sent or received, in bytes.
const DefaultMaxMessage = 4 << 20

// The times of connections: after checkAfter without a frame a peer is asked for an answer, and after answerAfter
// without one the connection is closed. dialFor limits how long connecting may take.
const (
	checkAfter  = 10 * time.Second
	answerAfter = 5 * time.Second
	dialFor     = 5 * time.Second
)

// LoadTLS makes a configuration for both ends of mutual TLS from three PEM files: this process's certificate, its key,
// and the certificates of the authorities of all processes of the fleet. The certificate must be valid for both ends,
// and a dispatch's for its host name. Errors wrap [ErrConfig].
func LoadTLS(certificate, key, authorities string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("%w: certificate %s: %w", ErrConfig, certificate, err)
	}
	text, err := os.ReadFile(authorities)
	if err != nil {
		return nil, fmt.Errorf("%w: authorities: %w", ErrConfig, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%w: authorities: no certificate in %s", ErrConfig, authorities)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}, nil
}

func secured(c *tls.Config) credentials.TransportCredentials {
	if c == nil {
		return insecure.NewCredentials()
	}
	return credentials.NewTLS(c)
}

func serverOptions(c *tls.Config, limit int) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.Creds(secured(c)),
		grpc.MaxRecvMsgSize(limit), grpc.MaxSendMsgSize(limit),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: checkAfter, Timeout: answerAfter}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: checkAfter / 2, PermitWithoutStream: true}),
		grpc.ConnectionTimeout(dialFor),
	}
}

func dialOptions(c *tls.Config, limit int) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(secured(c)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(limit), grpc.MaxCallSendMsgSize(limit)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: checkAfter, Timeout: answerAfter}),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: dialFor, Backoff: backoff.Config{
			BaseDelay: 50 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: 5 * time.Second}}),
		grpc.WithDisableServiceConfig(),
	}
}
