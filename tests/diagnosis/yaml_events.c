// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the scalar events of a YAML document; other events and the parser are deleted.
// expect: read_rules
// library: yaml-0.1 (libyaml-dev)
#include <yaml.h>

#include "server.h"

static const unsigned char rules[] = "limit: 10\nhosts: [alpha, beta]\n";

static int read_rules(void)
{
	yaml_event_type_t type = YAML_NO_EVENT;
	yaml_parser_t parser;
	yaml_event_t event;
	int scalars = 0;

	yaml_parser_initialize(&parser);
	yaml_parser_set_input_string(&parser, rules, sizeof(rules) - 1);
	while (type != YAML_STREAM_END_EVENT) {
		must(yaml_parser_parse(&parser, &event), "parse YAML"); // LEAK
		type = event.type;
		scalars += type == YAML_SCALAR_EVENT;
		if (type != YAML_SCALAR_EVENT)
			yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return scalars;
}

void handle_request(unsigned int number)
{
	must(read_rules() == 5, "read rules");
}
