"""Starts the emulator of AWS with the connections and API destinations of EventBridge as resources of templates.

The emulator has both in its API, but its CloudFormation knows neither.
"""

import json

from ministack.app import main
from ministack.services import eventbridge
from ministack.services.cloudformation import provisioners


def resource(create, delete, arn):
    """Returns how CloudFormation creates, updates and deletes a resource by two actions of EventBridge."""

    def created(logical_id, properties, stack):
        name = provisioners._physical_name(stack, logical_id, max_len=64)
        # An update creates the resource again.
        delete({"Name": name})
        status, _, body = create({**properties, "Name": name})[:3]
        assert status == 200, body
        return name, {"Arn": json.loads(body)[arn]}

    return {"create": created, "delete": lambda name, _: delete({"Name": name})}


provisioners._RESOURCE_HANDLERS["AWS::Events::Connection"] = resource(
    eventbridge._create_connection, eventbridge._delete_connection, "ConnectionArn"
)
provisioners._RESOURCE_HANDLERS["AWS::Events::ApiDestination"] = resource(
    eventbridge._create_api_destination, eventbridge._delete_api_destination, "ApiDestinationArn"
)

main()
