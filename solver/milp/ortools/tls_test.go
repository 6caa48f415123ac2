package ortools_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools"
	"github.com/hedgesched/hedge/solver/milp/ortools/serve"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.cert, a.key = a.issue(t, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue makes a certificate, which signs itself if the authority has none yet.
func (a *authority) issue(t *testing.T, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	// one that is its issuer's counts as self-signed
	template.Subject = pkix.Name{CommonName: template.SerialNumber.String()}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return cert, key
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func (a *authority) client(t *testing.T) tls.Certificate {
	t.Helper()
	cert, key := a.issue(t, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

// write puts a certificate of the server's, its key and the authority's certificate into files.
func (a *authority) write(t *testing.T) (cert, key, ca string) {
	t.Helper()
	c, k := a.issue(t, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	der, err := x509.MarshalPKCS8PrivateKey(k)
	require.NoError(t, err)
	dir := t.TempDir()
	put := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	return put("cert.pem", "CERTIFICATE", c.Raw), put("key.pem", "PRIVATE KEY", der),
		put("ca.pem", "CERTIFICATE", a.cert.Raw)
}

// TestTLSFilesThatAreNoGood: the error names the flag and the file.
func TestTLSFilesThatAreNoGood(t *testing.T) {
	service(t)
	a, other := newAuthority(t), newAuthority(t)
	cert, key, _ := a.write(t)
	_, strange, _ := other.write(t)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for name, c := range map[string]struct {
		config serve.Config
		want   []string
	}{
		"no certificate": {serve.Config{Cert: "/nowhere/cert.pem", Key: key},
			[]string{"--tls-cert /nowhere/cert.pem: No such file"}},
		"no key": {serve.Config{Cert: cert, Key: "/nowhere/key.pem"},
			[]string{"--tls-key /nowhere/key.pem: No such file"}},
		"another's key": {serve.Config{Cert: cert, Key: strange}, []string{"--tls-cert " + cert, "--tls-key " + strange}},
		"empty":         {serve.Config{Cert: empty, Key: key}, []string{"--tls-cert " + empty}},
		"no authority":  {serve.Config{Cert: cert, Key: key, ClientCA: empty}, []string{"--tls-client-ca " + empty}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := start(c.config)
			require.ErrorIs(t, err, milp.ErrUnavailable)
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	cert, key, ca := a.write(t)
	secured := own(t, serve.Config{Cert: cert, Key: key, Grace: -1})
	mutual := own(t, serve.Config{Cert: cert, Key: key, ClientCA: ca, Grace: -1})
	for _, c := range []struct {
		name    string
		address string
		tls     *tls.Config
		hint    string // "" where it works
	}{
		{"TLS", secured.address, &tls.Config{RootCAs: a.pool()}, ""},
		{"TLS, another authority", secured.address, &tls.Config{RootCAs: other.pool()}, "its certificate is not trusted"},
		{"TLS, client without", secured.address, nil, "it may want TLS"},
		{"client with TLS, service without", service(t), &tls.Config{RootCAs: a.pool()}, "it is without TLS"},
		{"mutual", mutual.address, &tls.Config{RootCAs: a.pool(), Certificates: []tls.Certificate{a.client(t)}}, ""},
		{"mutual, client without", mutual.address, nil, "it may want TLS"},
		{"mutual, client without certificate", mutual.address, &tls.Config{RootCAs: a.pool()},
			"it may want a client's certificate"},
		{"mutual, another authority's client", mutual.address,
			&tls.Config{RootCAs: a.pool(), Certificates: []tls.Certificate{other.client(t)}},
			"it may want a client's certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := backend(t, ortools.Config{Address: c.address, TLS: c.tls})
			if c.hint == "" {
				require.NoError(t, b.Ping(context.Background()))
				optimum(t, b)
				return
			}
			_, err := milp.Solve(context.Background(), b, knapsack(), milp.Options{})
			require.ErrorIs(t, err, milp.ErrUnavailable)
			assert.ErrorContains(t, err, c.address)
			assert.ErrorContains(t, err, c.hint)
		})
	}
}
