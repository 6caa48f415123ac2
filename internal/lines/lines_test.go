package lines_test

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/internal/lines"
)

func TestScanner(t *testing.T) {
	broken := errors.New("broken disk")
	for _, c := range []struct {
		text string
		end  error
		want []string
	}{
		{"", nil, nil},
		{"a\nb\r\n\nc", nil, []string{"a", "b", "", "c"}},
		{"a\nb\n", nil, []string{"a", "b"}},
		{"", broken, nil},
		{"a\nb", broken, []string{"a"}},
		{"a\nb\n", broken, []string{"a", "b"}},
		{"a\nlonger than eight\n", bufio.ErrTooLong, []string{"a"}},
	} {
		in := io.Reader(strings.NewReader(c.text))
		if errors.Is(c.end, broken) {
			in = io.MultiReader(in, iotest.ErrReader(broken))
		}
		var got []string
		s := lines.NewScanner(in, 8)
		for s.Scan() {
			got = append(got, s.Text())
		}
		require.Equal(t, c.want, got, "%q", c.text)
		require.ErrorIs(t, s.Err(), c.end, "%q", c.text)
	}
}
