package planner

// Method is a way to move rows.
type Method string

// The methods, in the order in which a plan lists them. Auto is no method but the wish for the cheapest one.
const (
	Auto         Method = ""
	Relay        Method = "relay"
	InsertSelect Method = "insert-select"
	CreateAs     Method = "create-as"
	Unlogged     Method = "unlogged"
	Insert       Method = "insert"
	Merge        Method = "merge"
	Pages        Method = "pages"
)

// Methods returns every method in listing order.
func Methods() []Method {
	return []Method{Relay, InsertSelect, CreateAs, Unlogged, Insert, Merge, Pages}
}

// Format is the COPY format of the rows on the wire.
type Format string

// The formats. AnyFormat is the wish for binary where it is exact, else text. NoFormat is that of methods whose rows never
// leave the server.
const (
	AnyFormat Format = ""
	NoFormat  Format = ""
	Binary    Format = "binary"
	Text      Format = "text"
)
