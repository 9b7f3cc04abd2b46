# Controllers of the control plane go by what their watches have delivered, as autoscalers do.

@stale-reads
Feature: The controllers of Kubernetes act on what they last heard

  Scenario: A pod is replaced once its ReplicaSet's controller hears that it is gone
    Given a cluster
    And a Ready Node "a" for system pods only
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            tolerations: [{key: CriticalAddonsOnly, operator: Exists}]
            containers: [{name: web, image: web}]
      """
    Then a pod of the Deployment "web" is Running within 1m
    When every call "watch pods" of the program "kube-controller-manager" delivers nothing for 3m, for 3m
    And "Pod/$newest" is deleted
    Then "replicaset-controller" never sends "create" of "pods" within 2m
    And "replicaset-controller" has sent "create" of "pods" within 2m
    And a pod of the Deployment "web" is Running within 1m
    When "Pod/$newest" is deleted
    Then "replicaset-controller" has sent "create" of "pods" within 1m

  Scenario: A pod is scheduled once the scheduler hears of it
    Given a cluster
    And a Ready Node "a" for system pods only
    When every call "watch pods" of the program "kube-scheduler" delivers nothing for 2m, for 2m
    And a pod "late" for the Node "a" is created
    Then "kube-scheduler" never sends "create" of "pods/binding" within 1m
    And the pod "late" is Running within 2m

  Scenario: Rules are about what controllers do with tokens of their own, too
    Given a cluster
    And the first call "create pods" of the program "kube-controller-manager" is answered with 500
    And a Ready Node "a" for system pods only
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            tolerations: [{key: CriticalAddonsOnly, operator: Exists}]
            containers: [{name: web, image: web}]
      """
    Then "fault" has recorded "effective" of "pods" within 1m
    And a pod of the Deployment "web" is Running within 1m
