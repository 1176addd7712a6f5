"""What Label Studio and Quepid demand of a file, as their documentation and models say; each raises AssertionError.

Label Studio: labelstud.io/guide/task_format and the tags of its labelling interfaces. Quepid: the fields of a book's
export, and what its models of pairs and judgements validate.
"""

from __future__ import annotations

import json
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


def check_quepid(book: Any) -> None:
    """A book that Quepid's import takes whole: what does not validate it passes over without a word."""
    assert isinstance(book["name"], str)
    assert isinstance(book["show_rank"], bool)
    scales = [book["scale"], book["scorer"]["scale"]]
    assert scales[0] == scales[1]
    assert {str(grade) for grade in scales[0]} == book["scale_with_labels"].keys()
    for pair in book["query_doc_pairs"]:
        assert len(pair["query_text"].strip()) > 0
        assert len(pair["query_text"]) <= 500
        assert 0 < len(pair["doc_id"]) <= 500
        assert pair["position"] is None or isinstance(pair["position"], int)
        assert isinstance(json.loads(pair["document_fields"]), dict)
        users = [judgement["user_email"] for judgement in pair["judgements"]]
        assert len(users) == len(set(users))
        for judgement in pair["judgements"]:
            check_judgement(judgement, scales[0])


def check_judgement(judgement: dict[str, Any], scale: list[int]) -> None:
    is_open = judgement["unrateable"] or judgement["judge_later"]
    assert judgement["rating"] is None if is_open else judgement["rating"] in scale
    assert judgement["user_email"].count("@") == 1
    assert judgement["explanation"] is None or len(judgement["explanation"].encode("utf-8", "surrogatepass")) <= 65535
