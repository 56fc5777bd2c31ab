package encode

// numberTypes are the types of numbers.
var numberTypes = map[uint32]maker{}
