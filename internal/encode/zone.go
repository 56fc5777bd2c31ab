package encode

import "strings"

// zoneOffset reads the offset of a zone from UTC: a sign, and hours with or without minutes and seconds behind colons, or hhmm run together.
// The result is in seconds, positive to the west (DecodeTimezone of datetime.c).
func zoneOffset(text []byte) (west int32, f fault) {
	if len(text) == 0 || text[0] != '+' && text[0] != '-' {
		return 0, badFormat
	}
	var minutes, seconds int32
	hours, rest, ok := leadingInt(text[1:])
	if ok && len(rest) > 0 && rest[0] == ':' {
		minutes, rest, ok = leadingInt(rest[1:])
		if ok && len(rest) > 0 && rest[0] == ':' {
			seconds, rest, ok = leadingInt(rest[1:])
		}
	} else if len(rest) == 0 && len(text) > 3 {
		hours, minutes = hours/100, hours%100
	}
	if !ok || hours < 0 || hours > 15 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59 {
		return 0, zoneOverflow
	}
	if len(rest) > 0 {
		return 0, badFormat
	}
	west = -(hours*3600 + minutes*60 + seconds)
	if text[0] == '-' {
		west = -west
	}
	return west, noFault
}

// zoneKind is what a word is as the name of a time zone.
type zoneKind uint8

const (
	noZone    zoneKind = iota // none that any server has by itself
	utcZone                   // UTC under all its names
	otherZone                 // an offset that depends on the server's files, or on the date
)

// zoneName looks up a word in lower case. What is neither an abbreviation of the server's timezonesets nor a zone of the tz database whose
// name has letters only is no zone: POSIX forms have digits.
func (r *timeReader) zoneName(text []byte) zoneKind {
	switch string(text) {
	case "utc", "gmt", "z", "zulu", "ut", "uct":
		return utcZone
	}
	if strings.Contains(zoneNames, " "+string(text)+" ") {
		return otherZone
	}
	// Since 18 the abbreviations of the session's own zone count, such as LMT.
	if !r.UTC && r.Version >= 18 && text[0] >= 'a' && len(text) >= 3 && len(text) <= 6 {
		return otherZone
	}
	return noZone
}

// zonePath is why a field that stands where a zone does, and has more than letters, is not read here. One with digits may be a POSIX form,
// one in a directory of the tz database a zone of it; others, such as "n/a", are none.
func (r *timeReader) zonePath(i int, text []byte) fault {
	for _, c := range text {
		if charClasses[c]&(letter|slash|point) == 0 {
			return onlyServer
		}
	}
	area, _, found := strings.Cut(string(text), "/")
	if found && strings.Contains(zoneAreas, " "+area+" ") {
		return onlyServer
	}
	return unknownZone + fault(i)
}

// zoneAreas are the directories of the tz database, and of its forms that some systems have beside it.
const zoneAreas = " africa america antarctica arctic asia atlantic australia brazil canada chile etc europe indian mexico pacific us posix right systemv "

// zoneNames are the abbreviations of all sets that the server is delivered with, of which timezone_abbreviations chooses one (manual, "Date/Time
// Configuration Files"), and the zones of the tz database with names of letters only, its backward links included.
//
//nolint:misspell // "ect" and "taht" are zones.
const zoneNames = " acdt acsst acst act acwst adt aedt aesst aest aft akdt akst almst almt amst amt anast anat aqtst aqtt arst art ast awsst awst " +
	"azost azot azst azt bdst bdt bnt bort bot bra brst brt bst btt cadt cast cat cct cdt cest cet cetdst chadt chast chost chot chst chut cit " +
	"ckt clst clt cot cst cvt cwst cxt davt ddut easst east eat ect edt eest eet eetdst egst egt eit est fet fjst fjt fkst fkt fnst fnt galt " +
	"gamt gest get gft gilt gmt gst gyt hadt hast hdt hkt hovst hovt hst ict idt iot irdt irkst irkt irst irt ist jayt jst kdt kgst kgt kost " +
	"krast krat kst lhdt lhst ligt lint lkt magst magt mart mawt mdt mest mesz met metdst mez mht mist mmt mpt msd msk mst must mut mvt myt " +
	"nct ndt nft novst novt npt nrt nst nut nzdt nzst nzt omsst omst orat pdt pet petst pett pgt phot pht pkst pkt pmdt pmst pont pst pwt " +
	"pyst pyt qyzt ret rott sadt sakst sakt samst samt sast sat sbt sct sgt sret srt sst syot taht tft tjt tkt tlt tmt tot trut tvt ulast " +
	"ulat uyst uyt uzst uzt vet vlast vlat volt vost vut wadt wakt wast wat wdt west wet wetdst wft wgst wgt wib wit wita wsdt wsst wst xjt " +
	"yakst yakt yapt yekst yekt " +
	"cuba egypt eire factory gb greenwich hongkong iceland iran israel jamaica japan kwajalein libya localtime navajo nz poland portugal " +
	"posixrules prc roc rok singapore turkey universal "
