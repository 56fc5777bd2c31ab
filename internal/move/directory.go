package move

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/planner"
)

// directory is a data directory as the source of a move: files that no server writes to, so that they need neither locks nor a snapshot.
type directory struct {
	dir    *datadir.Directory
	db     *datadir.Database
	skip   bool // leave out what is damaged
	lock   sync.Mutex
	all    []datadir.Table           // of the database
	tables map[uint32]*datadir.Table // that are read, by OID
}

// unbounded stands for as many connections as anybody wants: reading files takes none.
const unbounded = 1 << 16

// directoryEnd opens the database of a data directory as the source. For any other kind of source its directory is nil.
func directoryEnd(r *Request) (end, error) {
	path, dbname, files, err := datadir.ParseSource(r.Source)
	if err != nil {
		return end{}, err
	}
	if err := directoryOptions(r, files); err != nil || !files {
		return end{}, err
	}
	d, err := datadir.Open(path)
	if err != nil {
		return end{}, err
	}
	at := &directory{dir: d, skip: r.SkipDamaged, tables: map[uint32]*datadir.Table{}}
	if err := at.quiet(); err != nil {
		return end{}, err
	}
	if at.db, err = d.Choose(dbname); err != nil {
		return end{}, err
	}
	return end{directory: at, server: at.server()}, nil
}

// quiet refuses a directory on which a server runs. It is asked before the first row is read, and again before the rows are committed.
func (d *directory) quiet() error {
	pid, running := d.dir.Running()
	if !running {
		return d.unchanged()
	}
	return &planner.Error{Kind: planner.Refused, Message: "a server runs on the data directory " + d.dir.Path(),
		Detail: fmt.Sprintf("Process %d uses it, and its newest rows are not in the files yet.", pid),
		Hint:   "Connect to it instead: give its connection URI as the source. Or stop it first."}
}

// unchanged is an error when a server has run on the directory since it was opened: it leaves another checkpoint.
func (d *directory) unchanged() error {
	now, err := datadir.Open(d.dir.Path())
	if err != nil {
		return err
	}
	if was, is := d.dir.Control(), now.Control(); was.CheckpointLSN != is.CheckpointLSN || was.State != is.State {
		return &planner.Error{Message: "a server has run on the data directory " + d.dir.Path() + " while it was read",
			Detail: "Its files are no longer those that the copy began with.", Hint: "Run the same command again."}
	}
	return nil
}

// directoryOptions refuses what makes no sense with a source or a target of that kind.
func directoryOptions(r *Request, files bool) error {
	if strings.HasPrefix(r.Target, datadir.Scheme) {
		return &planner.Error{Kind: planner.Usage, Message: "a data directory cannot be the target", Detail: "Rows are only read from one.",
			Hint: "Start a server on it, and give its connection URI."}
	}
	if r.SkipDamaged && !files {
		return &planner.Error{Kind: planner.Usage, Message: "--skip-damaged is for data directories",
			Detail: "Of a server's table what is damaged is for the server to say.", Hint: "Give the source as pgdata:DIR?dbname=NAME."}
	}
	return nil
}

// server describes the directory where a plan expects a server.
func (d *directory) server() planner.Server {
	version := d.dir.Version()
	return planner.Server{
		Address: datadir.Scheme + d.dir.Path() + "?dbname=" + url.QueryEscape(d.db.Name), Directory: d.dir.Path(),
		Version: version * 10000, VersionText: strconv.Itoa(version), SystemID: strconv.FormatUint(d.dir.Control().SystemID, 10),
		Database: d.db.Name, DatabaseOID: d.db.OID, Encoding: encodingName(d.db.Encoding), FreeConnections: unbounded,
	}
}

// notes tell what a reader of the directory should know before its rows.
func (d *directory) notes() []string {
	c := d.dir.Control()
	var notes []string
	if !c.State.Clean() {
		notes = append(notes, "the server of "+d.dir.Path()+" was not shut down cleanly ("+c.State.String()+
			"): what it wrote to WAL after its last checkpoint is not read, so the newest rows may be missing and deleted ones may be back")
	}
	if d.skip {
		notes = append(notes, "damaged blocks and rows are left out, as --skip-damaged asks for")
	}
	return notes
}

// encodings are the names of pg_enc in its order (pg_wchar.h), as client_encoding takes them.
var encodings = []string{
	"SQL_ASCII", "EUC_JP", "EUC_CN", "EUC_KR", "EUC_TW", "EUC_JIS_2004", "UTF8", "MULE_INTERNAL", "LATIN1", "LATIN2", "LATIN3", "LATIN4",
	"LATIN5", "LATIN6", "LATIN7", "LATIN8", "LATIN9", "LATIN10", "WIN1256", "WIN1258", "WIN866", "WIN874", "KOI8R", "WIN1251", "WIN1252",
	"ISO_8859_5", "ISO_8859_6", "ISO_8859_7", "ISO_8859_8", "WIN1250", "WIN1253", "WIN1254", "WIN1255", "WIN1257", "KOI8U",
}

// encodingName names a database's encoding. A number that nobody knows is taken for bytes without meaning.
func encodingName(number int32) string {
	if number < 0 || int(number) >= len(encodings) {
		return encodings[0]
	}
	return encodings[number]
}

// encoding is the client_encoding in which the target is sent the rows, whose bytes are those of the files.
func (d *directory) encoding(target planner.Server) string {
	if own := encodingName(d.db.Encoding); own != encodings[0] {
		return own
	}
	return target.Encoding
}
