package encode

// timeTypes are the types of dates and times.
var timeTypes = map[uint32]maker{}
