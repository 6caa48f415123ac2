package live_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live"
)

// authority signs certificates.
type authority struct {
	t           *testing.T
	dir         string
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.write("ca.pem", template, template, &a.key.PublicKey)
	a.certificate = template
	return a
}

func (a *authority) write(name string, template, parent *x509.Certificate, key *ecdsa.PublicKey) {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	require.NoError(a.t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(a.t, os.WriteFile(filepath.Join(a.dir, name), text, 0o600))
}

// member makes a certificate and loads it as a process of the fleet does.
func (a *authority) member(name string) *tls.Config {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	a.write(name+".pem", &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}, a.certificate,
		&key.PublicKey)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	file := filepath.Join(a.dir, name+".key")
	require.NoError(a.t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	c, err := live.LoadTLS(filepath.Join(a.dir, name+".pem"), file, filepath.Join(a.dir, "ca.pem"))
	require.NoError(a.t, err)
	return c
}

// A fleet with certificates runs jobs of those who have one, and of nobody else.
func TestMutualTLS(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	s := newSite(t)
	s.secure = ours.member
	d, a, client := s.dispatch(1), s.agent("a", 1, &functions{}), s.client()
	ctx := limited(t)
	require.NoError(t, client.Submit(ctx, job("a", 1, "1ms")))
	_, err := client.Wait(ctx, "a")
	require.NoError(t, err)
	for name, secure := range map[string]*tls.Config{"none": nil, "another's": others.member("x"),
		"no certificate": {RootCAs: ours.member("y").RootCAs}} {
		stranger, err := live.Dial(s.address, secure)
		require.NoError(t, err)
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		require.Error(t, stranger.Submit(short, job("b", 1, "1ms")), name)
		cancel()
		require.NoError(t, stranger.Close())
	}
	_, err = client.Inspect(ctx, "b")
	require.ErrorIs(t, err, live.ErrJob)
	require.NoError(t, a.end())
	require.NoError(t, d.end())
}

func TestLoadTLS(t *testing.T) {
	a := newAuthority(t)
	a.member("x")
	file := func(name string) string { return filepath.Join(a.dir, name) }
	for _, names := range [][3]string{{"x.pem", "x.key", "none"}, {"none", "x.key", "ca.pem"},
		{"x.pem", "ca.pem", "ca.pem"}, {"x.pem", "x.key", "x.key"}} {
		_, err := live.LoadTLS(file(names[0]), file(names[1]), file(names[2]))
		assert.ErrorIs(t, err, live.ErrConfig, names)
	}
}
