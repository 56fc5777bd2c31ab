package encode

// word is the kind of a word in a date or time, and what it says is in a number beside it (datetktbl of datetime.c).
type word uint8

const (
	unknownWord  word = iota
	monthWord         // 1 to 12
	weekdayWord       // 0 is Sunday
	halfWord          // beforeNoon, afterNoon
	eraWord           // 1 for BC
	julianWord        // a Julian day follows
	clockWord         // T: a time follows
	unitWord          // a name of a field that releases before 16 took before its number
	fillerWord        // at, on
	summerWord        // dst: an hour is added to the zone before it
	reservedWord      // one of the moments below
	plusInfinity      // one that releases before 16 do not know
	agoWord           // of intervals
)

// The words that are moments, or times of a day, in themselves.
const (
	pastMoment = iota
	futureMoment
	epochMoment
	nowMoment
	todayMoment // and yesterday, tomorrow: the server's clock says which
	midnightUTC // allballs
)

const (
	beforeNoon = 1 + iota
	afterNoon
)

// dateWord looks up a word in lower case.
func dateWord(text []byte) (word, int32) {
	if len(text) < 3 {
		return shortWord(text)
	}
	if month := monthName(text); month != 0 {
		return monthWord, month
	}
	switch string(text) {
	case "sun", "sunday":
		return weekdayWord, 0
	case "mon", "monday":
		return weekdayWord, 1
	case "tue", "tues", "tuesday":
		return weekdayWord, 2
	case "wed", "weds", "wednesday":
		return weekdayWord, 3
	case "thu", "thur", "thurs", "thursday":
		return weekdayWord, 4
	case "fri", "friday":
		return weekdayWord, 5
	case "sat", "saturday":
		return weekdayWord, 6
	case "julian":
		return julianWord, 0
	case "dow", "doy", "isodow", "isoyear":
		return unitWord, 0
	case "dst":
		return summerWord, 0
	case "-infinity":
		return reservedWord, pastMoment
	case "infinity":
		return reservedWord, futureMoment
	case "+infinity": // since 16
		return plusInfinity, futureMoment
	case "epoch":
		return reservedWord, epochMoment
	case "now":
		return reservedWord, nowMoment
	case "today", "yesterday", "tomorrow":
		return reservedWord, todayMoment
	case "allballs":
		return reservedWord, midnightUTC
	}
	return unknownWord, 0
}

func shortWord(text []byte) (word, int32) {
	switch string(text) {
	case "am":
		return halfWord, beforeNoon
	case "pm":
		return halfWord, afterNoon
	case "ad":
		return eraWord, 0
	case "bc":
		return eraWord, 1
	case "j", "jd":
		return julianWord, 0
	case "t":
		return clockWord, 0
	case "d", "h", "m", "mm", "s", "y":
		return unitWord, 0
	case "at", "on":
		return fillerWord, 0
	}
	return unknownWord, 0
}

func monthName(text []byte) int32 {
	switch string(text) {
	case "jan", "january":
		return 1
	case "feb", "february":
		return 2
	case "mar", "march":
		return 3
	case "apr", "april":
		return 4
	case "may":
		return 5
	case "jun", "june":
		return 6
	case "jul", "july":
		return 7
	case "aug", "august":
		return 8
	case "sep", "sept", "september":
		return 9
	case "oct", "october":
		return 10
	case "nov", "november":
		return 11
	case "dec", "december":
		return 12
	}
	return 0
}
