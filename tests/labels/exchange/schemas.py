"""The demands of Label Studio on a file (labelstud.io/guide/task_format); a check raises AssertionError."""

from typing import Any
from xml.etree import ElementTree as Xml


def check_label_studio(tasks: Any, config: str) -> None:
    """A list of tasks that fit the labelling interface *config*."""
    interface = Xml.fromstring(config)
    controls = {tag.get("name"): tag for tag in interface.iter() if tag.get("toName")}
    variables = {str(tag.get("value"))[1:] for tag in interface.iter() if str(tag.get("value")).startswith("$")}
    assert isinstance(tasks, list)
    for task in tasks:
        assert isinstance(task["data"], dict)
        assert variables <= task["data"].keys()
        for annotation in task.get("annotations", []):
            check_annotation(annotation, controls)
        for prediction in task.get("predictions", []):
            check_results(prediction["result"], controls)
            assert isinstance(prediction["model_version"], str)
            assert isinstance(prediction.get("score", 0.0), float)


def check_annotation(annotation: dict[str, Any], controls: dict[str | None, Xml.Element]) -> None:
    user = annotation.get("completed_by")
    assert user is None or isinstance(user, int) or "email" in user
    assert isinstance(annotation["was_cancelled"], bool)
    # without it, an annotation that is imported becomes ground truth
    assert isinstance(annotation["ground_truth"], bool)
    assert isinstance(annotation["lead_time"], int | float)
    check_results(annotation["result"], controls)


def check_results(results: list[dict[str, Any]], controls: dict[str | None, Xml.Element]) -> None:
    for result in results:
        control = controls[result["from_name"]]
        assert result["to_name"] == control.get("toName")
        assert result["type"] == control.tag.lower()
        if control.tag == "Choices":
            known = {choice.get("value") for choice in control.iter("Choice")}
            (chosen,) = result["value"]["choices"]
            assert chosen in known
        else:
            assert control.tag == "TextArea"
            assert all(isinstance(text, str) for text in result["value"]["text"])
