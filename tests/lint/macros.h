/* What cppcheck has to know of the libraries' headers, which it does not read. */
#define cJSON_ArrayForEach(element, array) \
	for (element = (array)->child; element; element = (element)->next)
