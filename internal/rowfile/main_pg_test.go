package rowfile

import (
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }
