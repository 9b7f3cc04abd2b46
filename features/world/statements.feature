# What Thens can state of anything in the history, in words and in YAML.

Feature: Thens state anything of the history

  Scenario: Each general Then
    Given a cluster
    When a machine "a" with a simulated kubelet boots
    And a pod "alone" that requests 100m CPU is created
    And a Deployment "web" of 2 pods that request 100m CPU is created
    Then "node" has recorded "running" of "pods" 3 times within 2m
    And a client has sent "create" of "pods/binding" exactly 3 times within 1m
    And a client has sent "create" of "pods/binding" at least 2 times within 1m
    And a client has sent "create" of "pods/binding" no more than 3 times within 1m
    And a client has sent "create" of "pods/binding" no more than 1 time in any 30s, for each object, within 1m
    And a client has sent "create" of "pods/binding" no more than 3 times in any 30s, for all objects together, within 1m
    And a client never sends "delete" of "nodes" within 1m
    And "node" has recorded "register" of "nodes" "a" before "node" has recorded "running" of "pods" within 1m
    And the detail "node" of "pods" "default/alone" is "a" within 1m
    And the detail "node" of "pods" "default/alone" stays "a" for 1m
    And this holds:
      """
      statement: every pod that is created is bound within a minute
      since: {source: api, verb: create, resource: pods, code: 201, detail: {subresource: {exists: false}}}
      happens: {source: api, verb: create, resource: pods, detail: {subresource: binding}}
      within: 1m
      forEach: [namespace, name]
      """
    When "Deployment/web" is scaled to 3
    And "Pod/alone" is deleted by force
    Then this holds within 2m:
      """
      sequence:
      - match: {source: api, verb: [patch, update], resource: deployments, name: web, detail: {subresource: scale}}
      - match: {source: api, verb: create, resource: pods, detail: {subresource: {exists: false}}}
        capture: {pod: name}
        within: 1m
      - match: {source: node, verb: running, resource: pods, name: $pod}
        within: 1m
      """
    And 1m from now, the detail "gracePeriodSeconds" of "pods" "default/alone" has at no time been above 0 since the start
    And 1m from now, the detail "gracePeriodSeconds" of "pods" "default/alone" has at no time been below 0 since the start
    And this holds from the file "statements.yaml"
    And this holds within 5m from the file "statements.yaml"
